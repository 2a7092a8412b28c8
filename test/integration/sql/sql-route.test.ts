import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { csvRecords } from '../../support/oracles/csv-records.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';

let bench: SqlBench;
beforeAll(async () => {
  bench = await startSqlBench();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0');
});

async function balance(): Promise<number> {
  const { rows } = await bench.db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    bench.owner.accountId,
  ]);
  return rows[0]!.balance;
}

const SLOW =
  'SELECT count() FROM matches a, matches b, matches c, matches d, matches e, matches f, matches g, matches h';

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
});

test('refused and failed statements are free, and their time is counted', async () => {
  const before = await balance();
  for (const query of ['SELECT x', 'DROP TABLE matches', 'SELECT 1 / (']) {
    expect((await bench.sql(query)).status).toBe(400);
  }
  expect(await balance()).toBe(before);
  const { rows } = await bench.db.pool.query<{ failed_ms: number }>('SELECT failed_ms FROM sql_statements');
  expect(rows[0]!.failed_ms).toBeGreaterThan(0);
});

test('failed statements may take a minute a day', async () => {
  await bench.db.pool.query('UPDATE sql_statements SET failed_ms = 60000');
  const refused = await bench.sql('SELECT 1');
  expect([refused.status, (refused.body.error as { code: string }).code]).toEqual([429, 'rate_limited']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  await bench.db.setShift('25 hours');
  expect((await bench.sql('SELECT 1')).status).toBe(200);
  await bench.db.setShift('0 hours');
});

test('one statement of an account runs at a time, over all processes; others are not kept from theirs', async () => {
  const other = await bench.api.account();
  const another = await startTestApi(bench.db.pool, { clickhouse: bench.archive.client, sqlEngine: bench.sqlEngine });
  const ask = (api: typeof another, key: string, query: string) => api.call(key, 'POST', '/v1/sql', { query });
  try {
    const slow = bench.sql(SLOW);
    await eventually('the statement has its turn', async () => {
      const running = 'SELECT FROM sql_statements WHERE account_id = $1 AND running_token IS NOT NULL';
      return (await bench.db.pool.query(running, [bench.owner.accountId])).rowCount === 1;
    });
    expect((await ask(another, bench.owner.apiKey, 'SELECT 1')).status).toBe(429);
    expect((await ask(another, other.apiKey, 'SELECT 1')).status).toBe(200);
    expect((await slow).body).toMatchObject({ error: { message: 'query: takes longer than 10 seconds' } });
    expect((await bench.sql('SELECT 1')).status).toBe(200);
  } finally {
    await another.stop();
  }
});

test('refused statements of an account take no place of others, however many come', async () => {
  const other = await bench.api.account();
  const slow = bench.sql(SLOW);
  await eventually('the statement has its turn', async () => {
    const running = 'SELECT FROM sql_statements WHERE account_id = $1 AND running_token IS NOT NULL';
    return (await bench.db.pool.query(running, [bench.owner.accountId])).rowCount === 1;
  });
  let isOver = false;
  const refusals = new Set<number>();
  const flood = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      refusals.add((await bench.sql('SELECT 1')).status);
      // A busy machine must have time for the other account while the slow statement runs.
      await wait(20);
    }
  });
  await eventually('some are refused', () => refusals.size > 0);
  const { status } = await bench.api.call(other.apiKey, 'POST', '/v1/sql', { query: 'SELECT 1' });
  isOver = true;
  await Promise.all(flood);
  expect(status).toBe(200);
  expect([...refusals]).toEqual([429]);
  expect((await slow).status).toBe(400);
});

test('without credits nothing runs, and a charge beyond the balance gives no rows', async () => {
  const poor = await bench.api.account({ credits: 0 });
  const reply = await bench.api.call(poor.apiKey, 'POST', '/v1/sql', { query: 'SELECT 1' });
  expect([reply.status, (reply.body.error as { code: string }).code]).toEqual([402, 'insufficient_credits']);
});

test('answers as CSV and Parquet', async () => {
  const csv = await bench.sql('SELECT seq, title FROM matches ORDER BY seq LIMIT 2', { format: 'csv' });
  expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(csv.text).toBe('"seq","title"\n1,"On rust"\n2,"On rust"\n');
  const parquet = await fetch(`${bench.api.url}/v1/sql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bench.owner.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'SELECT seq FROM matches', format: 'parquet' }),
  });
  const bytes = Buffer.from(await parquet.arrayBuffer());
  expect([parquet.status, bytes.subarray(0, 4).toString(), bytes.subarray(-4).toString()]).toEqual([
    200,
    'PAR1',
    'PAR1',
  ]);
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

test('one row of megabytes is refused as JSON, free of charge, and comes as CSV', async () => {
  const before = await balance();
  const query = 'SELECT groupArray(a.title) AS titles FROM matches a, matches b, matches c, matches d';
  const refused = await bench.sql(query);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('a row of more than 1 MB')]);
  expect(await balance()).toBe(before);
  const csv = await bench.sql(query, { format: 'csv' });
  expect([csv.status, csv.text.length > 2 ** 20]).toEqual([200, true]);
});

test('large integers are strings, sorted rows stay sorted, and deleted monitors are gone', async () => {
  const exact = await bench.sql("SELECT toInt64(9007199254740993) AS a, toInt64(5) AS b, ['x'] AS c");
  expect(exact.body.rows, exact.text).toEqual([['9007199254740993', 5, ['x']]]);
  const sorted = await bench.sql('SELECT seq FROM (SELECT seq FROM matches) ORDER BY cityHash64(seq) DESC');
  expect(sorted.status).toBe(400);
  const descending = await bench.sql('SELECT a.seq * 100 + b.seq AS n FROM matches a, matches b ORDER BY n DESC');
  const values = (descending.body.rows as number[][]).map(([n]) => n!);
  expect(values).toEqual(values.toSorted((one, two) => two - one));
  expect(values).toHaveLength(400);
  const { id } = await bench.api.monitor(bench.owner.apiKey, { name: 'to be deleted' });
  await bench.api.call(bench.owner.apiKey, 'DELETE', `/v1/monitors/${id}`);
  expect((await bench.sql('SELECT count() FROM monitors')).body.rows).toEqual([[1]]);
});

test('an account without monitors has empty tables', async () => {
  const other = await bench.api.account();
  for (const table of ['matches', 'deliveries', 'monitors']) {
    const query = `SELECT count() FROM ${table}`;
    const { body } = await bench.api.call(other.apiKey, 'POST', '/v1/sql', { query });
    expect([table, body.rows]).toEqual([table, [[0]]]);
  }
});

test.each([
  [{ query: '' }, '^query: must not be empty'],
  [{ query: 'x'.repeat(10_001) }, '^query: must have at most'],
  [{ query: 'SELECT 1\u0000' }, '^query: must not have control characters'],
  [{}, '^query: is required'],
  [{ query: 'SELECT 1', format: 'xml' }, '^format: '],
  [{ query: 'SELECT 1', settings: {} }, '^settings: is not known here'],
])('refuses %j', async (body, message) => {
  const reply = await bench.api.call(bench.owner.apiKey, 'POST', '/v1/sql', body);
  expect(reply.status).toBe(400);
  expect((reply.body.error as { message: string }).message).toMatch(new RegExp(message));
});

test('an installation whose archive is away answers 503', async () => {
  const away = await startTestApi(bench.db.pool);
  const reply = await away.call(bench.owner.apiKey, 'POST', '/v1/sql', { query: 'SELECT 1' });
  expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2']);
  await away.stop();
});

test('statements of the greatest length run, whatever their characters', async () => {
  const text = '龍'.repeat(9_900);
  const { status, body } = await bench.sql(`SELECT lengthUTF8('${text}') AS n`);
  expect([status, body.rows]).toEqual([200, [[9_900]]]);
});

test.each([
  ['too deep', `SELECT ${'('.repeat(900)}1${')'.repeat(900)}`],
  ['endless', 'WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t'],
  ['of too many levels', `SELECT ${'[1, '.repeat(300)}1${']'.repeat(300)}`],
])('a statement that is %s is its author’s fault, not an archive that is away', async (_what, query) => {
  const { status, body } = await bench.sql(query);
  expect([status, (body.error as { retryable: boolean }).retryable]).toEqual([400, false]);
});
