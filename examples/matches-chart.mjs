// Draws the matches of each monitor over time as an SVG on stdout. See README.md in this folder.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    clickhouse: { type: 'string' },
    endpoints: { type: 'string', default: '.data/endpoints.json' },
    hours: { type: 'string', default: '1' },
  },
});
const hours = Number(values.hours);
if (!(hours > 0 && hours <= 720)) throw new Error('--hours must be a number above 0, at most 720');
const address = values.clickhouse ?? JSON.parse(readFileSync(values.endpoints, 'utf8')).clickhouseReadOnly;
/** The chart has 60 columns, whatever the time that it shows. */
const COLUMNS = 60;
const step = Math.max(1, Math.round((hours * 3600) / COLUMNS));

// Monitors beyond the first seven are drawn together. A deleted monitor has no name.
const rows = await query(
  `SELECT toUnixTimestamp(toStartOfInterval(created_at, toIntervalSecond({step: UInt32}))) AS at,
          monitor_id AS id, if(monitor_name = '', monitor_id, monitor_name) AS name, count() AS matches
     FROM matches_with_items
    WHERE created_at > now() - toIntervalSecond({seconds: UInt32})
    GROUP BY at, id, name
    ORDER BY at`,
  { step, seconds: COLUMNS * step },
);
process.stdout.write(draw(rows));

/** Sends a statement over ClickHouse's HTTP protocol; values are parameters of the URL, never part of the text. */
async function query(sql, parameters) {
  const url = new URL(address);
  const headers = { authorization: `Basic ${btoa(`${url.username}:${decodeURIComponent(url.password)}`)}` };
  url.username = url.password = '';
  // An address may name the database as its path, as ClickHouse's client for Node takes it.
  if (url.pathname !== '/') url.searchParams.set('database', decodeURIComponent(url.pathname.slice(1)));
  url.pathname = '/';
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(`param_${name}`, String(value));
  const response = await fetch(url, { method: 'POST', headers, body: `${sql} FORMAT JSONEachRow` });
  const text = await response.text();
  if (!response.ok) throw new Error(`ClickHouse answered ${response.status}: ${text}`);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function draw(found) {
  const colors = ['#4269d0', '#efb118', '#ff725c', '#6cc5b0', '#3ca951', '#ff8ab7', '#a463f2'];
  const [width, height, left, top] = [900, 320, 50, 40];
  const totals = new Map();
  for (const { id, name, matches } of found) {
    totals.set(id, { name, matches: (totals.get(id)?.matches ?? 0) + Number(matches) });
  }
  const order = [...totals].sort(([, a], [, b]) => b.matches - a.matches).map(([id]) => id);
  const shown = order.length > colors.length ? [...order.slice(0, colors.length), 'others'] : order;
  const nameOf = (id) => totals.get(id)?.name ?? id;
  const now = Math.floor(Date.now() / 1000);
  const first = Math.floor(now / step) * step - (COLUMNS - 1) * step;
  const columns = Array.from({ length: COLUMNS }, () => new Map());
  for (const { at, id, matches } of found) {
    const column = columns[Math.round((Number(at) - first) / step)];
    const series = shown.includes(id) ? id : 'others';
    column?.set(series, (column.get(series) ?? 0) + Number(matches));
  }
  const most = Math.max(1, ...columns.map((column) => [...column.values()].reduce((sum, count) => sum + count, 0)));
  const wide = width / COLUMNS;
  const bars = columns.flatMap((column, index) => {
    let y = top + height;
    return shown.map((id, series) => {
      const count = column.get(id) ?? 0;
      const tall = (count / most) * height;
      y -= tall;
      const title = `${timeOf(first + index * step)} ${nameOf(id)}: ${count}`;
      return count === 0
        ? ''
        : `<rect x="${(left + index * wide).toFixed(1)}" y="${y.toFixed(1)}" width="${(wide - 1).toFixed(1)}" height="${tall.toFixed(1)}" fill="${colors[series] ?? '#9498a0'}"><title>${escape(title)}</title></rect>`;
    });
  });
  const legend = shown.map((id, series) => {
    const y = top + height + 50 + 18 * series;
    return `<rect x="${left}" y="${y - 10}" width="12" height="12" fill="${colors[series] ?? '#9498a0'}"/><text x="${left + 18}" y="${y}">${escape(nameOf(id))}</text>`;
  });
  const ticks = [0, 15, 30, 45].map(
    (index) => `<text x="${left + index * wide}" y="${top + height + 18}">${timeOf(first + index * step)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width + left + 20} ${top + height + 60 + 18 * shown.length}" font-family="sans-serif" font-size="12">
<text x="${left}" y="20" font-size="15">Matches by monitor, one column each ${step} s (UTC)</text>
<text x="${left - 6}" y="${top + 10}" text-anchor="end">${most}</text>
<path d="M${left} ${top}V${top + height}H${left + width}" fill="none" stroke="#999"/>
${[...bars, ...ticks, ...legend].filter((part) => part !== '').join('\n')}
</svg>
`;
}

function timeOf(seconds) {
  return new Date(seconds * 1000).toISOString().slice(5, 16).replace('T', ' ');
}

/** Names are what their owners wrote. Characters that XML forbids are left out. */
function escape(text) {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replace(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
