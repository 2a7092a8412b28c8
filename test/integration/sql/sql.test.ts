import { existsSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test, describe } from 'vitest';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { sqlDatabases } from '../../../shared/clickhouse/sql-databases.ts';
import { LISTED_FUNCTIONS } from '../../../shared/stores/sql/sql-functions.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { FOREIGN_SECRET, startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { csvRecords } from '../../support/oracles/csv-records.ts';
import { ENDLESS, GREEDY_FOR_ROWS, HOSTILE, ORDINARY } from './hostile-statements.cases.ts';
import { visitDashboard } from '../../support/dashboard/dashboard-visitor.ts';
import type { DashboardVisitor } from '../../support/dashboard/dashboard-visitor.ts';

let bench: SqlBench;

/** Another process of the API, whose statements a proxy can hold up. */
let held: { api: TestApi; proxy: TcpProxy; clickhouse: ClickHouseClient };

let names: { archive: string; sandbox: string };

beforeAll(async () => {
  bench = await startSqlBench();
  names = sqlDatabases(bench.archive.url);
  const proxy = await TcpProxy.start(sqlDatabases(bench.archive.url).sandboxUrl);
  const clickhouse = createClickhouse(proxy.url, 'test');
  const sqlEngine = { ...bench.sqlEngine, clickhouse };
  held = { api: await startTestApi(bench.db.pool, { clickhouse: bench.archive.client, sqlEngine }), proxy, clickhouse };
});

afterAll(async () => {
  await held.api.stop();
  await held.clickhouse.close();
  await held.proxy.stop();
  await bench.stop();
});

beforeEach(() => forget());

/** Failed statements use up a daily allowance. */
const forget = () => bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0');

const ask = (api: TestApi, key: string, query: string) => api.call(key, 'POST', '/v1/sql', { query });

async function balance(): Promise<number> {
  const { rows } = await bench.db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    bench.owner.accountId,
  ]);
  return rows[0]!.balance;
}

const named = (statement: string): string =>
  statement
    .replaceAll('ARCHIVE', names.archive)
    .replaceAll('SANDBOX', names.sandbox)
    .replaceAll('MONITOR', bench.foreignMonitorId);

/** Nothing of another account, of a file, or of the inside of the service. */
function expectNothingForeign(text: string, statement: string): void {
  const echoed = text.replaceAll(JSON.stringify(statement).slice(1, -1), '');
  for (const foreign of [FOREIGN_SECRET, bench.foreignMonitorId, 'root:', 'Stack trace', 'clickhouse-main', '.sql:']) {
    if (statement.includes(foreign)) continue;
    expect(echoed, statement).not.toContain(foreign);
  }
}

test('statements that name other tables, functions or clauses are refused before they run, and nothing is written', async () => {
  for (const statement of HOSTILE) {
    const { status, text } = await bench.sql(named(statement));
    expect(status, statement).toBe(400);
    expect(text, statement).toMatch(/"message":"(?:query|body): /);
    expectNothingForeign(text, named(statement));
    await forget();
  }
  expect(existsSync('/tmp/stolen')).toBe(false);
  const query = 'SELECT count() AS n FROM matches';
  const all = await bench.archive.client.query({ query, format: 'JSONEachRow' });
  expect([(await bench.sql(query)).body.rows, await all.json()]).toEqual([[[20]], [{ n: 40 }]]);
});

test('statements that ask for all rows, and errors that quote values, have only those of their account', async () => {
  for (const statement of GREEDY_FOR_ROWS.map(named)) {
    const reply = await bench.sql(statement);
    expect([400, 200], `${statement}: ${reply.text}`).toContain(reply.status);
    expectNothingForeign(reply.text, statement);
    await forget();
  }
});

test('statements that the engine could not interrupt are refused before they run', async () => {
  for (const statement of ENDLESS) {
    const { status, text } = await bench.sql(statement);
    expect([status, text], statement).toEqual([400, expect.stringMatching(/must (?:write out|not use so)/)]);
    await forget();
  }
});

test('what analysts ask works', async () => {
  for (const statement of ORDINARY) {
    const reply = await bench.sql(statement);
    expect(reply.status, `${statement}: ${reply.text}`).toBe(200);
    expect((reply.body.rows as unknown[]).length, statement).toBeGreaterThan(0);
    expectNothingForeign(reply.text, statement);
  }
});

test('every listed function is one of the engine', async () => {
  const query = 'SELECT lower(name) AS name FROM system.functions';
  const result = await bench.archive.client.query({ query, format: 'JSONEachRow' });
  const known = new Set((await result.json<{ name: string }>()).map(({ name }) => name));
  // What the parser itself makes.
  const parsed = new Set(['lambda', 'exists', 'dateadd', 'datesub']);
  expect(LISTED_FUNCTIONS.filter((name) => !known.has(name) && !parsed.has(name))).toEqual([]);
});

test('a statement costs a credit for each started second, with a row in the ledger', async () => {
  const before = await balance();
  const reply = await bench.sql('SELECT count() AS n FROM matches');
  const credits = Number(reply.headers.get('x-credits-used'));
  expect(credits).toBeGreaterThanOrEqual(1);
  expect(reply.body).toEqual({ columns: [{ name: 'n', type: 'UInt64' }], rows: [[20]], credits_used: credits });
  expect(await balance()).toBe(before - credits);
  const { rows } = await bench.db.pool.query(
    `SELECT kind, amount, route FROM ledger_entries WHERE account_id = $1 AND kind = 'sql' ORDER BY id DESC LIMIT 1`,
    [bench.owner.accountId],
  );
  expect(rows).toEqual([{ kind: 'sql', amount: -credits, route: 'POST /v1/sql' }]);
  const poor = await bench.api.account({ credits: 0 });
  expect((await ask(bench.api, poor.apiKey, 'SELECT 1')).body.error).toMatchObject({ code: 'insufficient_credits' });
});

test('refused and failed statements are free, and may take a minute a day', async () => {
  const before = await balance();
  for (const query of ['SELECT x', 'DROP TABLE matches', 'SELECT 1 / (', `SELECT ${'('.repeat(900)}1`]) {
    const { status, body } = await bench.sql(query);
    expect([status, body.error]).toMatchObject([400, { retryable: false }]);
  }
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
  // Makes the sandbox known to this process.
  expect((await ask(held.api, apiKey, 'SELECT 1')).status).toBe(200);
  held.proxy.freeze();
  const slow = ask(held.api, apiKey, 'SELECT count() FROM matches');
  const running = 'SELECT FROM sql_statements WHERE account_id = $1 AND running_token IS NOT NULL';
  await eventually('it has its turn', async () => (await bench.db.pool.query(running, [accountId])).rowCount === 1);
  const refused = await Promise.all(Array.from({ length: 20 }, () => bench.sql('SELECT 1')));
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  expect((await ask(bench.api, other.apiKey, 'SELECT 1')).status).toBe(200);
  held.proxy.thaw();
  expect((await slow).status).toBe(200);
  expect((await bench.sql('SELECT 1')).status).toBe(200);
});

test('answers as CSV and Parquet', async () => {
  const csv = await bench.sql('SELECT seq, title FROM matches ORDER BY seq LIMIT 2', { format: 'csv' });
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(csv.text).toBe('"seq","title"\n1,"On rust"\n2,"On rust"\n');
  const { status, text } = await bench.sql('SELECT seq FROM matches', { format: 'parquet' });
  expect([status, text.slice(0, 4), text.slice(-4)]).toEqual([200, 'PAR1', 'PAR1']);
});

test('in CSV no text is a formula of a spreadsheet; JSON holds them unchanged', async () => {
  const texts = ['=cmd()', '+1', '-1', '@x', '\t=1', '＝1', 'a=1', "it's", ''];
  const list = `[${texts.map((text) => `'${text.replace("'", "\\'")}'`).join(', ')}]`;
  const query = `SELECT arrayJoin(${list}) AS text, toNullable(text) AS same, if(text = '', NULL, text) AS other, -1 AS n`;
  const csv = await bench.sql(query, { format: 'csv' });
  const [, ...rows] = csvRecords(csv.text.replaceAll('\n', '\r\n'));
  const safe = (text: string) => (/^[=+\-@\t＝]/.test(text) ? `'${text}` : text);
  expect(rows, csv.text).toEqual(texts.map((text) => [safe(text), safe(text), text === '' ? '\\N' : safe(text), '-1']));
  expect((await bench.sql(query)).body.rows).toEqual(texts.map((text) => [text, text, text || null, -1]));
});

test('large integers are strings, sorted rows stay sorted, and deleted monitors are gone', async () => {
  const exact = await bench.sql("SELECT toInt64(9007199254740993) AS a, toInt64(5) AS b, ['x'] AS c");
  expect(exact.body.rows, exact.text).toEqual([['9007199254740993', 5, ['x']]]);
  const descending = await bench.sql('SELECT a.seq * 100 + b.seq AS n FROM matches a, matches b ORDER BY n DESC');
  const values = (descending.body.rows as number[][]).map(([n]) => n!);
  expect(values).toEqual(values.toSorted((one, two) => two - one));
  expect(values).toHaveLength(400);
  const { id } = await bench.api.monitor(bench.owner.apiKey, { name: 'to be deleted' });
  await bench.api.call(bench.owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect((await bench.sql('SELECT count() FROM monitors')).body.rows).toEqual([[1]]);
});

test('an account without monitors has empty tables, and statements of the greatest length run', async () => {
  const other = await bench.api.account();
  const count = (table: string) => `(SELECT count() FROM ${table})`;
  const query = `SELECT ${['matches', 'deliveries', 'monitors'].map(count).join(', ')}, lengthUTF8('${'龍'.repeat(9_800)}')`;
  expect((await ask(bench.api, other.apiKey, query)).body.rows).toEqual([[0, 0, 0, 9_800]]);
});

test('an installation whose archive is away answers 503', async () => {
  const away = await startTestApi(bench.db.pool);
  const reply = await ask(away, bench.owner.apiKey, 'SELECT 1');
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2']);
  await away.stop();
});

describe('the page of the dashboard', () => {
  let person: DashboardVisitor;

  beforeAll(async () => {
    person = await visitDashboard(bench.db.pool, bench.api.url, bench.owner.accountId);
  });

  test('shows the rows of a statement, what it cost, and escapes what the forum wrote', async () => {
    const query = `SELECT '<b>x</b>' AS "<i>", count() AS n, NULL AS nothing FROM matches`;
    const refused = await person.post('/sql', { query, format: 'json' });
    expect([refused.status, refused.html.includes('<i>')]).toEqual([400, false]);
    const page = await person.post('/sql', { query: query.replace('"<i>"', 'a'), format: 'json' });
    expect(page.status).toBe(200);
    expect(page.html).toContain('&lt;b&gt;x&lt;/b&gt;');
    expect(page.html).toMatch(/1 rows\s*\. It cost 1 credit\s*\./);
    expect(page.html).toMatch(/<td>20<\/td>/);
  });

  test('shows as many rows as a page can hold', async () => {
    const rows = Array.from({ length: 200 }, (_, number) => number).join(', ');
    const cell = `concat(${Array(30).fill('l').join(', ')})`;
    const query = `SELECT ${cell} AS x FROM (SELECT '${'<'.repeat(4_000)}' AS l, arrayJoin([${rows}]) AS n)`;
    const page = await person.post('/sql', { query, format: 'json' });
    expect(page.status).toBe(200);
    expect(page.html).toMatch(/200 rows; the first [1-9] are shown/);
    expect(page.html.length).toBeLessThan(4_000_000);
  });

  test('gives the rows as a file', async () => {
    const file = await person.post('/sql', { query: 'SELECT seq FROM matches ORDER BY seq LIMIT 2', format: 'csv' });
    expect(file.headers.get('content-disposition')).toContain('attachment');
    expect(file.html).toBe('"seq"\n1\n2\n');
  });
});
