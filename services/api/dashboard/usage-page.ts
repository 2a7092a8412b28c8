import type { ApiKey, Usage, UsageItem } from '../../../schemas/api/account.ts';
import { readDailyUsage } from '../../../shared/billing/ledger-pages.ts';
import type { DailyUsage } from '../../../shared/billing/ledger-pages.ts';
import { listReceipts } from '../../../shared/billing/payments.ts';
import type { Receipt } from '../../../shared/billing/payments.ts';
import { html } from '../../../shared/http/html.ts';
import type { Html, HtmlValue } from '../../../shared/http/html.ts';
import { routeName } from '../http/route.ts';
import { MAX_RECEIPTS, priceOf, receiptsTable } from './billing-pages.ts';
import { adjacentIntervals, rankChart, timeChart } from './charts.ts';
import type { Series, Tone } from './charts.ts';
import type { DashboardDeps } from './dashboard.ts';
import { get } from './page.ts';
import type { PageRequest, PageRoute, ShownPage } from './page.ts';
import { figures, heading, icon, number, pills, table } from './parts.ts';

/** What credits are spent on. */
export const usagePages = (deps: DashboardDeps): PageRoute[] => [get('/usage', (request) => showUsage(deps, request))];

const DAY_MS = 86_400_000;
const PERIODS = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['month', 'This month'],
] as const;

/** Whole UTC days, the present one included, in milliseconds since 1970. */
interface Period {
  value: string;
  name: string;
  from: number;
  days: number;
}

/** An unknown value shows the last 30 days. */
function periodOf({ query, now }: PageRequest): Period {
  const [value, name] = PERIODS.find(([known]) => known === query.text('period')) ?? PERIODS[1];
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const days = value === 'month' ? new Date(today).getUTCDate() : Number(value);
  return { value, name, days, from: today - (days - 1) * DAY_MS };
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

async function showUsage({ pool, routes }: DashboardDeps, request: PageRequest): Promise<ShownPage> {
  const { account, path } = request;
  const period = periodOf(request);
  const { from, days } = period;
  const read = async (by: Usage['by'], start: number) => {
    const query = { by, from: dayOf(start), to: dayOf(start + (days - 1) * DAY_MS) };
    return (await request.read('/v1/account/usage', { query })) as Usage;
  };
  const range = { accountId: account.id, from: dayOf(from), to: dayOf(request.now) };
  const [byRoute, byKey, before, daily, keys, receipts] = await Promise.all([
    read('route', from),
    read('key', from),
    read('route', from - days * DAY_MS),
    readDailyUsage(pool, range),
    request.read('/v1/account/keys') as Promise<{ items: ApiKey[] }>,
    listReceipts(pool, account.id, MAX_RECEIPTS),
  ]);
  const summaries = new Map(routes.map((route) => [routeName(route), route.summary]));
  const keyNames = new Map(keys.items.map(({ id, name }) => [id, name]));
  const bought = receipts.filter(({ paidAt }) => paidAt.getTime() >= from);
  const links = PERIODS.map(
    ([value, name]) => [`${path('/usage')}?period=${value}`, name, value === period.value] as const,
  );
  const ledger = html`<a class="button quiet" href="${path('/billing')}#ledger"
    >${icon('credit-card')} Every charge</a
  >`;
  return {
    title: 'Usage',
    heading: heading('Usage', ledger),
    content: html`${pills('Period', links)} ${usageFigures(request, { period, usage: byRoute, before, bought })}
      ${timeChart({
        caption: 'Credits used by day',
        unit: 'credits',
        interval: 'day',
        points: adjacentIntervals('day', from, from + days * DAY_MS),
        series: seriesOf(daily, period),
        kind: 'stacked bars',
        empty: 'No credits were used in these days',
      })}
      <div class="chart-pair">
        ${ranking('By route', byRoute, 'Route', (item) => routeLabel(item, summaries))}
        ${ranking('By key', byKey, 'Key', (item) => keyLabel(item, keyNames))}
      </div>
      <section>
        <h2>Purchases</h2>
        ${
          bought.length === 0
            ? html`<p class="note">Nothing was bought in these days. <a href="${path('/billing')}">Buy credits</a></p>`
            : receiptsTable(bought)
        }
      </section>
      <p class="note">
        Days are UTC days. Refunds, corrections and charges that were given back do not count as usage. Programs read
        the same numbers with <code>GET /v1/account/usage</code>.
      </p>`,
  };
}

interface Totals {
  period: Period;
  usage: Usage;
  /** As many days before the period. */
  before: Usage;
  bought: readonly Receipt[];
}

function usageFigures({ account, path, now }: PageRequest, { period, usage, before, bought }: Totals): Html {
  const { days } = period;
  const { charges, credits } = usage.total;
  // Of the days since a young account was opened.
  const average = credits / Math.min(days, Math.max(1, Math.ceil((now - account.createdAt.getTime()) / DAY_MS)));
  const lasts = average > 0 && Math.floor(account.balance / average);
  const credited = bought.reduce((sum, receipt) => sum + receipt.credits, 0);
  return figures([
    ['Credits used', number(credits), html`${change(credits, before.total.credits, days)}`],
    [
      'A day, on average',
      number(Math.round(average * 10) / 10),
      `${number(charges)} ${charges === 1 ? 'charge' : 'charges'} in all`,
    ],
    [
      'Credits left',
      number(account.balance),
      lasts === false
        ? html`<a href="${path('/billing')}">Buy&nbsp;more</a>`
        : html`${lasts >= 1_000 ? 'over 1,000' : number(lasts)} ${lasts === 1 ? 'day' : 'days'} at this average.
            <a href="${path('/billing')}">Buy&nbsp;more</a>`,
    ],
    ['Credits bought', number(credited), boughtInWords(bought)],
  ]);
}

function change(credits: number, before: number, days: number): string {
  const earlier = days === 1 ? 'the day before' : `the ${days} days before`;
  if (before === 0) return credits === 0 ? `none in ${earlier} either` : `none in ${earlier}`;
  const percent = Math.round((credits / before - 1) * 100);
  if (percent === 0) return `as in ${earlier}`;
  return `${number(Math.abs(percent))}% ${percent > 0 ? 'more' : 'less'} than in ${earlier}`;
}

function boughtInWords(bought: readonly Receipt[]): string {
  const [first] = bought;
  if (first === undefined) return 'no purchases';
  const count = `${bought.length} ${bought.length === 1 ? 'purchase' : 'purchases'}`;
  const amount = bought.reduce((sum, receipt) => sum + receipt.amount, 0);
  return bought.some(({ currency }) => currency !== first.currency)
    ? count
    : `${count}, ${priceOf({ ...first, amount })}`;
}

/** What credits are used for, by the route that charged them; the first that fits. A colour belongs to its use. */
const USES: readonly (readonly [name: string, tone: Tone, route: RegExp])[] = [
  ['Earlier matches', 4, /^POST \/v1\/monitors\/\{id\}\/backfill$/],
  // Renewals have no route.
  ['Monitors', 1, /^$|^[A-Z]+ \/v1\/monitors/],
  ['Reading', 3, /^GET \/v1\/forum\//],
  ['SQL', 2, /^POST \/v1\/sql$/],
  ['Other', 6, /^/],
];
/** Of the stacked bars, from the bottom: what goes on every day comes first. */
const STACK = ['Monitors', 'Reading', 'SQL', 'Earlier matches', 'Other'];

function seriesOf(daily: readonly DailyUsage[], { from, days }: Period): Series[] {
  const valuesOf = new Map(USES.map(([name]) => [name, Array<number>(days).fill(0)]));
  for (const { day, route, credits } of daily) {
    const [name] = USES.find(([, , pattern]) => pattern.test(route))!;
    valuesOf.get(name)![(Date.parse(day) - from) / DAY_MS]! += credits;
  }
  return STACK.map((name) => ({
    name,
    tone: USES.find(([use]) => use === name)![1],
    values: valuesOf.get(name)!,
  })).filter(({ values }) => values.some((value) => value > 0));
}

/** More are in the table. */
const MOST_RANKED = 8;

function ranking(
  caption: string,
  { items, total }: Usage,
  column: string,
  labelOf: (item: UsageItem) => [name: string, note?: HtmlValue],
): Html {
  const share = (credits: number) => {
    const percent = (100 * credits) / total.credits;
    return percent > 0 && percent < 1 ? '<1%' : `${Math.round(percent)}%`;
  };
  const rows = items.map((item) => {
    const [name, note] = labelOf(item);
    return {
      ...item,
      share: share(item.credits),
      label: html`${name} ${note !== undefined && html`<span class="note">${note}</span>`}`,
    };
  });
  return rankChart({
    caption,
    unit: 'credits',
    rows: rows.slice(0, MOST_RANKED).map(({ label, credits, share: part }) => ({ label, value: credits, share: part })),
    empty: 'No credits were used in these days',
    more:
      rows.length > 0 &&
      html`<details>
        <summary>${rows.length > MOST_RANKED ? `Show all ${number(rows.length)} as table` : 'Show as table'}</summary>
        ${table(
          caption,
          [column, 'Charges', 'Credits', 'Share'],
          rows.map(({ label, charges, credits, share: part }) => [label, charges, credits, part]),
        )}
      </details>`,
  });
}

function routeLabel({ route }: UsageItem, summaries: ReadonlyMap<string, string>): [string, HtmlValue?] {
  if (route === null) return ['Renew monitors every 24 hours'];
  const summary = summaries.get(route);
  return summary === undefined ? [route] : [summary, html`<code>${route}</code>`];
}

function keyLabel({ key_id: id }: UsageItem, names: ReadonlyMap<string, string>): [string, HtmlValue?] {
  if (id === null) return ['Without a key', 'renewals, this dashboard, connected apps'];
  const name = names.get(id);
  const code = html`<code>fk_${id}…</code>`;
  return name === undefined ? ['Revoked key', code] : [name, code];
}
