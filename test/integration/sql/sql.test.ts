import { existsSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { FOREIGN_SECRET, startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { CSV_CELLS } from '../../unit/services/api/http/csv-formulas.cases.ts';
import { csvRecords } from '../../support/oracles/csv-records.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';

let bench: SqlBench;

/** Another process of the API, whose archive a proxy can hold up. */
let held: { api: TestApi; proxy: TcpProxy; clickhouse: ClickHouseClient };

beforeAll(async () => {
  bench = await startSqlBench();
  const proxy = await TcpProxy.start(bench.archive.url);
  const clickhouse = createClickhouse(proxy.url, 'test');
  held = { api: await startTestApi(bench.db.pool, { clickhouse }), proxy, clickhouse };
});

afterAll(async () => {
  await held.api.stop();
  await held.clickhouse.close();
  await held.proxy.stop();
  await bench.stop();
});

// Failed statements use up a daily allowance.
beforeEach(() => bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0'));

const ask = (api: TestApi, key: string, query: string) => api.call(key, 'POST', '/v1/sql', { query });

async function balance(): Promise<number> {
  const { rows } = await bench.db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    bench.owner.accountId,
  ]);
  return rows[0]!.balance;
}

test('a statement has the rows of its account, and no others', async () => {
  const all = await bench.sql('SELECT table_name FROM information_schema.tables ORDER BY 1');
  expect(all.body.rows).toEqual([['deliveries'], ['matches'], ['monitors']]);
  for (const table of ['matches', 'deliveries', 'monitors']) {
    const { status, text } = await bench.sql(`SELECT * FROM ${table}`);
    expect(status, text).toBe(200);
    expect(text).toContain(bench.monitorId);
    expect(text).not.toContain(bench.foreignMonitorId);
    expect(text).not.toContain(FOREIGN_SECRET);
  }
  const counts = await bench.sql('SELECT (SELECT count(*) FROM matches), (SELECT count(*) FROM deliveries)');
  expect(counts.body).toMatchObject({ rows: [[20, 20]], rows_read: 41 });
});

test('what analysts ask works', async () => {
  const asked: [query: string, rows: unknown][] = [
    [
      'SELECT subreddit, count(*) AS n FROM matches GROUP BY ALL ORDER BY 1',
      [
        ['cars', 10],
        ['metals', 10],
      ],
    ],
    ["SELECT count(*) FROM matches WHERE list_contains(matched_terms, 'iron')", [[4]]],
    ['SELECT DISTINCT unnest(matched_terms) AS term FROM matches ORDER BY term', [['iron'], ['rust']]],
    ['SELECT count(*) FROM matches WHERE created_at > now() - INTERVAL 7 DAY AND created_at <= now()', [[20]]],
    ["SELECT date_trunc('day', min(created_at))::DATE = current_date FROM matches", [[true]]],
    ['SELECT monitor_name, max(duration_ms) FROM matches JOIN deliveries USING (match_id) GROUP BY 1', [['mine', 200]]],
    ['SELECT seq, row_number() OVER (ORDER BY seq DESC) FROM matches ORDER BY seq LIMIT 1', [[1, 20]]],
    [
      "SELECT title, removed, nsfw FROM matches WHERE body ILIKE '%rust%' ORDER BY seq LIMIT 1",
      [['On rust', false, false]],
    ],
    ['SELECT host, quantile_cont(duration_ms, 0.5) FROM deliveries GROUP BY host', [['rust.example.com', 105]]],
    [
      'WITH days AS (FROM matches SELECT seq % 2 AS odd) SELECT odd, count(*) FROM days GROUP BY odd ORDER BY odd',
      [
        [0, 10],
        [1, 10],
      ],
    ],
    [
      "SELECT 9007199254740993 AS a, 5 AS b, ['x'] AS c, {'k': 1} AS d, NULL AS e;",
      [['9007199254740993', 5, ['x'], { k: 1 }, null]],
    ],
    ['SUMMARIZE monitors', expect.arrayContaining([expect.arrayContaining(['monitor_id'])])],
  ];
  for (const [query, rows] of asked) {
    const reply = await bench.sql(query);
    expect([reply.status, reply.body.rows], `${query}: ${reply.text}`).toEqual([200, rows]);
  }
});

describe('the box', () => {
  test.each([
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM read_text('http://127.0.0.1:9/')",
    "COPY matches TO '/tmp/stolen'",
    "ATTACH '/tmp/stolen.db' AS stolen",
    'INSTALL httpfs',
    'SET enable_external_access = true',
    'SELECT 1; SELECT 2',
    'SELECT x',
  ])('refuses %s', async (query) => {
    const reply = await bench.sql(query);
    expect([reply.status, reply.body.error], reply.text).toMatchObject([400, { code: 'invalid_request' }]);
    expect(reply.text).toMatch(/"message":"query: /);
    expect(reply.text).not.toContain('root:');
    expect(existsSync('/tmp/stolen')).toBe(false);
  });

  test('ends what takes more memory than it may, and gives its place back', async () => {
    const reply = await bench.sql("SELECT length(repeat('a', 3000000000))");
    // A busy machine may need too long to take the memory.
    expect([reply.status, reply.text]).toEqual([400, expect.stringMatching(/memory|10 seconds/)]);
    expect((await bench.sql('SELECT * FROM range(100001)')).text).toContain('100,000 rows');
    expect((await bench.sql('SELECT 1')).status).toBe(200);
  });

  test('tells nothing of the machine in its settings but its own folder', async () => {
    const reply = await bench.sql('SELECT name, value FROM duckdb_settings()');
    expect(reply.status).toBe(200);
    expect(reply.text).not.toMatch(/\/root|\/home|\.duckdb/);
  });
});

test('a statement costs a credit for each started million rows, with a row in the ledger', async () => {
  const before = await balance();
  const reply = await bench.sql('SELECT count(*) AS n FROM matches');
  expect(reply.headers.get('x-credits-used')).toBe('1');
  expect(reply.body).toEqual({
    columns: [{ name: 'n', type: 'BIGINT' }],
    rows: [[20]],
    rows_read: 41,
    credits_used: 1,
  });
  expect(await balance()).toBe(before - 1);
  const { rows } = await bench.db.pool.query(
    `SELECT kind, amount, route FROM ledger_entries WHERE account_id = $1 AND kind = 'sql' ORDER BY id DESC LIMIT 1`,
    [bench.owner.accountId],
  );
  expect(rows).toEqual([{ kind: 'sql', amount: -1, route: 'POST /v1/sql' }]);
  const poor = await bench.api.account({ credits: 0 });
  expect((await ask(bench.api, poor.apiKey, 'SELECT 1')).body.error).toMatchObject({ code: 'insufficient_credits' });
});

test('a key that only reads monitors spends no credits on statements', async () => {
  const made = await bench.api.call(bench.owner.apiKey, 'POST', '/v1/account/keys', {
    name: 'r',
    scopes: ['monitors:read'],
  });
  const { api_key: key } = made.body as { api_key: string };
  expect((await ask(bench.api, key, 'SELECT 1')).body.error).toMatchObject({ code: 'insufficient_scope' });
});

test('refused and failed statements are free, and may take a minute a day', async () => {
  const before = await balance();
  expect((await bench.sql('SELECT x')).status).toBe(400);
  expect(await balance()).toBe(before);
  const { rows } = await bench.db.pool.query<{ failed_ms: number }>('SELECT failed_ms FROM sql_statements');
  expect(rows[0]!.failed_ms).toBeGreaterThan(0);
  await bench.db.pool.query('UPDATE sql_statements SET failed_ms = 60000');
  const refused = await bench.sql('SELECT 1');
  expect([refused.status, refused.body.error]).toMatchObject([429, { code: 'rate_limited' }]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await bench.db.setShift('25 hours');
  expect((await bench.sql('SELECT 1')).status).toBe(200);
  await bench.db.setShift('0 hours');
});

test('one statement of an account runs at a time, over all processes; others are not kept from theirs', async () => {
  const other = await bench.api.account();
  const { apiKey, accountId } = bench.owner;
  held.proxy.freeze();
  const slow = ask(held.api, apiKey, 'SELECT count(*) FROM matches');
  const running = 'SELECT FROM sql_statements WHERE account_id = $1 AND running_token IS NOT NULL';
  await eventually('it has its turn', async () => (await bench.db.pool.query(running, [accountId])).rowCount === 1);
  const refused = await Promise.all(Array.from({ length: 20 }, () => bench.sql('SELECT 1')));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  expect((await ask(bench.api, other.apiKey, 'SELECT 1')).status).toBe(200);
  held.proxy.thaw();
  expect((await slow).status).toBe(200);
  expect((await bench.sql('SELECT 1')).status).toBe(200);
});

test('an unavailable archive is answered 503, and nothing is charged or counted', async () => {
  const before = await balance();
  held.proxy.goAway();
  const reply = await ask(held.api, bench.owner.apiKey, 'SELECT 1');
  held.proxy.comeBack();
  expect(reply.status).toBe(503);
  expect(await balance()).toBe(before);
  const { rows } = await bench.db.pool.query('SELECT failed_ms, running_token FROM sql_statements WHERE failed_ms > 0');
  expect(rows).toEqual([]);
});

test('answers as CSV and Parquet, each with the names of columns', async () => {
  const csv = await bench.sql('SELECT seq, title, NULL AS none FROM matches ORDER BY seq LIMIT 2', { format: 'csv' });
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(csv.text).toBe('seq,title,none\n1,On rust,\\N\n2,On rust,\\N\n');
  const query = `SELECT seq, seq AS "a ""b""", matched_terms, created_at, {'x': [seq]} AS s, 1 AS x, 2 AS X, 3 AS x_1 FROM matches`;
  const { status, text } = await bench.sql(query, { format: 'parquet' });
  expect([status, text.slice(0, 4), text.slice(-4)]).toEqual([200, 'PAR1', 'PAR1']);
});

test('in CSV no text is a formula of a spreadsheet; JSON holds them unchanged', async () => {
  const texts = CSV_CELLS.map(([text]) => text);
  const list = `[${texts.map((text) => `'${text.replace("'", "''")}'`).join(', ')}]`;
  const query = `SELECT unnest(${list}) AS text, -1 AS n`;
  const typed = "SELECT '=1'::VARIANT AS \"=a\", '=1'::BLOB AS b, '=1'::ENUM('=1') AS c";
  expect((await bench.sql(typed, { format: 'csv' })).text).toBe("'=a,b,c\n'=1,'=1,'=1\n");
  const csv = await bench.sql(query, { format: 'csv' });
  // It ends lines by \n; of ends within cells there are some of each kind.
  const [, ...rows] = csvRecords(csv.text.replaceAll(/,-1\n|^text,n\n/g, (end) => end.replace('\n', '\r\n')));
  expect(rows, csv.text).toEqual(CSV_CELLS.map(([, cell]) => [cell, '-1']));
  expect((await bench.sql(query)).body.rows).toEqual(texts.map((text) => [text, -1]));
});

test('sorted rows stay sorted, deleted monitors are gone, and nothing is left on the disk', async () => {
  const descending = await bench.sql('SELECT a.seq * 100 + b.seq AS n FROM matches a, matches b ORDER BY n DESC');
  const values = (descending.body.rows as number[][]).map(([n]) => n!);
  expect(values).toEqual(values.toSorted((one, two) => two - one));
  expect(values).toHaveLength(400);
  const { id } = await bench.api.monitor(bench.owner.apiKey, { name: 'to be deleted' });
  await bench.api.call(bench.owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect((await bench.sql('SELECT count(*) FROM monitors')).body.rows).toEqual([[1]]);
  expect(readdirSync(bench.api.sqlFolder)).toEqual([]);
});

test('an account without monitors has empty tables, and statements of the greatest length run', async () => {
  const other = await bench.api.account();
  const count = (table: string) => `(SELECT count(*) FROM ${table})`;
  const query = `SELECT ${['matches', 'deliveries', 'monitors'].map(count).join(', ')}, length('${'龍'.repeat(9_800)}')`;
  expect((await ask(bench.api, other.apiKey, query)).body.rows).toEqual([[0, 0, 0, 9_800]]);
});

describe('the page of the dashboard', () => {
  let person: DashboardVisitor;

  beforeAll(async () => {
    person = await visitDashboard(bench.db.pool, bench.api.url, bench.owner.accountId);
  });

  test('shows the rows of a statement, what it cost, and escapes what the forum wrote', async () => {
    const query = `SELECT '<b>x</b>' AS "<i>", count(*) AS n, NULL AS nothing FROM matches`;
    const page = await person.post('/sql', { query, format: 'json' });
    expect([page.status, page.html.includes('<i>')]).toEqual([200, false]);
    expect(page.html).toContain('&lt;b&gt;x&lt;/b&gt;');
    expect(page.html).toMatch(/1 rows\s*\. It cost 1 credit\s*\./);
    expect(page.html).toMatch(/<td>20<\/td>/);
    expect((await person.post('/sql', { query: 'SELECT <i>', format: 'json' })).html).not.toContain('<i>');
  });

  test('names the tables and their columns, and its examples run', async () => {
    const page = await person.get('/sql');
    const { body } = await bench.sql('SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal');
    for (const [table, column] of body.rows as string[][]) {
      expect(page.html).toContain(`<code>${table}</code>`);
      expect(page.html).toContain(column);
    }
    const examples = [...page.html.matchAll(/href="[^"]*\/sql\?query=([^"]+)"/g)].map(([, query = '']) => query);
    expect(examples.length).toBeGreaterThan(2);
    for (const example of examples) {
      const reply = await bench.sql(decodeURIComponent(example));
      expect([reply.status, (reply.body.rows as unknown[]).length > 0], reply.text).toEqual([200, true]);
    }
  });

  test('shows as many rows as a page can hold', async () => {
    const query = `SELECT repeat('<', 120000) AS x FROM range(200)`;
    const page = await person.post('/sql', { query, format: 'json' });
    expect(page.status).toBe(200);
    expect(page.html).toMatch(/200 rows; showing the first [1-9]/);
    expect(page.html.length).toBeLessThan(4_000_000);
  });

  test('gives the rows as a file', async () => {
    const file = await person.post('/sql', { query: 'SELECT seq FROM matches ORDER BY seq LIMIT 2', format: 'csv' });
    expect(file.headers.get('content-disposition')).toContain('attachment');
    expect(file.html).toBe('seq\n1\n2\n');
  });
});
