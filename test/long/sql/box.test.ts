import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { writeAccountRows } from '../../../shared/accounts/statement-rows.ts';
import { processTree } from '../../support/children/process-tree.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';

let bench: SqlBench;
/** Hears whether a statement reaches the network. */
let heard = 0;
const server = createServer((socket) => {
  heard += 1;
  socket.destroy();
});
let port = 0;

beforeAll(async () => {
  bench = await startSqlBench();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.close();
  await bench.stop();
});
beforeEach(() => bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0'));

const ENDLESS = 'SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE (a.range * b.range) % 7 = 3';

const boxes = () => processTree(process.pid).filter(({ command }) => command.includes('sql-box-main'));

test.each([
  ["SELECT * FROM read_csv('/etc/passwd')"],
  ["SELECT * FROM read_text('/etc/passwd')"],
  ["SELECT * FROM '/etc/passwd'"],
  ["SELECT * FROM glob('/*')"],
  ["SELECT * FROM read_parquet('../*/matches.parquet')"],
  ["SELECT * FROM read_parquet(['matches.parquet', '/etc/hosts'])"],
  ["SELECT * FROM sniff_csv('/etc/passwd')"],
  ["SELECT * FROM read_text('http://127.0.0.1:PORT/')"],
  ["SELECT * FROM read_parquet('s3://127.0.0.1:PORT/x.parquet')"],
  ["SELECT * FROM query('COPY matches TO ''/tmp/stolen''')"],
  ["SELECT getenv('PATH')"],
  ["SELECT load_extension('httpfs')"],
  ["COPY matches TO '/tmp/stolen'"],
  ["COPY (SELECT 1) TO 'matches.parquet'"],
  ["ATTACH '/tmp/stolen.db' AS stolen"],
  ["ATTACH 'http://127.0.0.1:PORT/x.db'"],
  ['INSTALL httpfs'],
  ['LOAD httpfs'],
  ["LOAD '/tmp/stolen.so'"],
  ["EXPORT DATABASE '/tmp/stolen'"],
  ["IMPORT DATABASE '/tmp'"],
  ["SET memory_limit = '100GB'"],
  ["PRAGMA memory_limit = '100GB'"],
  ['RESET lock_configuration'],
  ['SET enable_external_access = true'],
  ['CREATE SECRET (TYPE s3)'],
  ['CALL enable_logging()'],
  ['CREATE TABLE t AS SELECT 1'],
  ['DELETE FROM matches'],
  ['SELECT 1; SELECT 2'],
  ["EXPLAIN ANALYZE COPY (SELECT 42) TO 'matches.parquet' (FORMAT parquet, USE_TMP_FILE false)"],
  ['EXPLAIN ANALYZE CREATE OR REPLACE VIEW matches AS SELECT 1'],
  ['-- nothing'],
  ['SELECT row(1, 2)'],
  ["SELECT [{'__proto__': 1}]"],
  ["SELECT repeat('x', 5000000)::INT"],
  ["SELECT error(repeat('<', 5000000))"],
  [`SELECT ${Array.from({ length: 1_001 }, (_, at) => `1 AS a${at}`).join(', ')}`],
  [`WITH t AS (SELECT NULL::ENUM('${'x'.repeat(9_000)}') e) SELECT ${Array(20).fill('*').join(', ')} FROM t`],
  ["SELECT 1) TO '/tmp/stolen' --"],
  [';'],
  ['SELECT x'],
  ['SELECT FROM WHERE'],
  [`SELECT ${'('.repeat(4_000)}1`],
])('reaches nothing: %s', async (written) => {
  const query = written.replace('PORT', String(port));
  const reply = await bench.sql(query);
  expect([reply.status, reply.body.error], reply.text).toMatchObject([
    400,
    { code: 'invalid_request', retryable: false },
  ]);
  expect(reply.text).toMatch(/"message":"query: /);
  expect(reply.text).not.toMatch(/root:|test-sql-|node_modules|Stack/);
  expect(reply.text.length).toBeLessThan(1_000);
  expect(heard).toBe(0);
  expect(existsSync('/tmp/stolen')).toBe(false);
});

/** A busy machine may need longer than 10 seconds to take what is too much. */
const HOGS: readonly (readonly [string, RegExp])[] = [
  ['SELECT list_sum(range(2000000000))', /memory|10 seconds/],
  ["SELECT string_agg(a.range || 'x') FROM range(100000) a, range(10000) b", /memory|10 seconds/],
  ['SELECT * FROM (SELECT list(a.range) FROM range(1000000000) a)', /memory|10 seconds/],
  ["WITH RECURSIVE t(x) AS (SELECT 'a' UNION ALL SELECT x || x FROM t) SELECT length(x) FROM t", /memory|10 seconds/],
  [ENDLESS, /10 seconds/],
  ['WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) SELECT count(*) FROM t', /memory|10 seconds/],
  ["SELECT repeat('x', 10000) FROM range(20000)", /64 MB|10 seconds/],
  [
    `SELECT ${Array.from({ length: 300 }, (_, at) => `seq + ${at} AS c${at}`).join(', ')} FROM range(100000) r(seq)`,
    /64 MB|10 seconds/,
  ],
];

test.each(HOGS.map(([query, why]) => ({ query, why, start: query.slice(0, 80) })))(
  'a statement that takes more than it may is ended: $start',
  async ({ query, why }) => {
    const reply = await bench.sql(query);
    expect(reply.status, reply.text.slice(0, 500)).toBe(400);
    expect(reply.text).toMatch(why);
    expect(boxes()).toEqual([]);
    expect((await bench.sql('SELECT count(*) FROM matches')).body.rows).toEqual([[20]]);
  },
);

test('as a file a result is bounded too', async () => {
  for (const format of ['csv', 'parquet']) {
    const reply = await bench.sql('SELECT repeat(range::VARCHAR, 2000) || md5(range::VARCHAR) FROM range(90000)', {
      format,
    });
    expect(reply.status, format).toBe(400);
  }
});

test('a client that leaves takes its process with it, and its time counts', async () => {
  const leave = new AbortController();
  const { apiKey } = bench.owner;
  const asked = fetch(`${bench.api.url}/v1/sql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: ENDLESS }),
    signal: leave.signal,
  });
  await eventually('it runs', () => boxes().length === 1);
  leave.abort();
  await expect(asked).rejects.toThrow();
  await eventually('its process is gone', () => boxes().length === 0);
  await eventually('its turn is given back', async () => (await bench.sql('SELECT 1')).status === 200);
  const { rows } = await bench.db.pool.query<{ failed_ms: number }>('SELECT failed_ms FROM sql_statements');
  expect(rows[0]!.failed_ms).toBeGreaterThan(0);
});

test('a statement whose API process has died ends too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'test-box-'));
  await writeAccountRows(bench.archive.client, folder, [bench.monitorId], AbortSignal.timeout(10_000));
  const child = fork(join(import.meta.dirname, '../../../services/api/sql/sql-box-main.ts'), { cwd: folder });
  child.send({ query: ENDLESS, format: 'json', memoryMb: 512, mostRows: 10 });
  // It works: the rows are read, and the statement takes longer than any test.
  await wait(2_000);
  const ended = once(child, 'exit');
  child.disconnect();
  expect(await ended).toEqual([null, 'SIGKILL']);
  rmSync(folder, { recursive: true });
});

test('two run at once, whoever asks; a third is refused', async () => {
  const others = [await bench.api.account(), await bench.api.account(), await bench.api.account()];
  const asked = others.map(({ apiKey }) => bench.api.call(apiKey, 'POST', '/v1/sql', { query: ENDLESS }));
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([400, 400, 503]);
});
