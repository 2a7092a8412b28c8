import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from 'vitest';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { sqlDatabases } from '../../../shared/clickhouse/sql-databases.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createPool, REQUEST_LIMITS } from '../../../shared/postgres/pool.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { startSqlBench } from '../../support/fixtures/sql-bench.ts';
import type { SqlBench } from '../../support/fixtures/sql-bench.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestApi } from '../../support/fixtures/test-api.ts';
import { GREEDY } from '../../integration/sql/hostile-statements.cases.ts';

/** Short, but the engine must get a statement within it, and answer all others. */
const ANSWER_MS = 5_000;

let bench: SqlBench;
/** Between the API and the sandbox: statements that it holds up look like those that the engine cannot interrupt. */
let statements: TcpProxy;
/** Between the API and the archive. */
let archive: TcpProxy;
let clients: ClickHouseClient[];
let api: TestApi;

beforeAll(async () => {
  bench = await startSqlBench();
  const { sandboxUrl } = sqlDatabases(bench.archive.url);
  statements = await TcpProxy.start(sandboxUrl);
  archive = await TcpProxy.start(bench.archive.url);
  clients = [createClickhouse(statements.url, 'test'), createClickhouse(archive.url, 'test')];
  const [clickhouse, archiveClickhouse] = clients as [ClickHouseClient, ClickHouseClient];
  const sqlEngine = { ...bench.sqlEngine, clickhouse, archiveClickhouse, answerMs: ANSWER_MS };
  api = await startTestApi(bench.db.pool, { clickhouse: bench.archive.client, sqlEngine });
  // Makes the sandbox.
  expect((await ask(bench.owner.apiKey)).status).toBe(200);
});
afterAll(async () => {
  await api.stop();
  for (const client of clients) await client.close();
  await Promise.all([statements.stop(), archive.stop()]);
  await bench.stop();
});
beforeEach(() => bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0'));
afterEach(async () => {
  statements.thaw();
  archive.thaw();
  await eventually('no statement is running', async () => (await turnsTaken()) === 0);
});

const ask = (key: string): Promise<Reply> => api.call(key, 'POST', '/v1/sql', { query: 'SELECT count() FROM matches' });

async function turnsTaken(): Promise<number> {
  const taken = 'SELECT FROM sql_statements WHERE running_token IS NOT NULL';
  return (await bench.db.pool.query(taken)).rowCount ?? 0;
}

const refusal = ({ status, body }: Reply): unknown => [status, (body.error as { code: string } | undefined)?.code];

async function balance(): Promise<number> {
  const { rows } = await bench.db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    bench.owner.accountId,
  ]);
  return rows[0]!.balance;
}

test('a statement that the engine cannot interrupt keeps its turn and its place, and is the last failed one of the day', async () => {
  const { owner } = bench;
  const before = await balance();
  const other = await api.account();
  const third = await api.account();
  statements.freeze();
  const late = await ask(owner.apiKey);
  expect(refusal(late)).toEqual([400, 'invalid_request']);
  expect(late.text).toContain('cannot be interrupted');
  expect(refusal(await ask(owner.apiKey))).toEqual([429, 'rate_limited']);
  // A second account takes the second place. While the engine runs both statements, no place is free.
  expect((await ask(other.apiKey)).status).toBe(400);
  expect(refusal(await ask(third.apiKey))).toEqual([503, 'service_unavailable']);
  expect(await turnsTaken()).toBe(2);

  statements.thaw();
  await eventually('both have ended', async () => (await turnsTaken()) === 0);
  expect((await ask(third.apiKey)).status).toBe(200);
  expect(refusal(await ask(owner.apiKey))).toEqual([429, 'rate_limited']);
  expect(await balance()).toBe(before);
});

test('while the archive is away a statement is unavailable, and takes nothing of the day', async () => {
  const { owner } = bench;
  // It has passed the judge when the engine stops answering.
  statements.freeze();
  const asked = ask(owner.apiKey);
  await eventually('the statement is on its way', async () => (await turnsTaken()) === 1);
  await eventually('it is with the engine', () => Promise.resolve(statements.connections > 0));
  archive.freeze();
  const reply = await asked;
  expect([refusal(reply), reply.headers.has('retry-after')]).toEqual([[503, 'internal_error'], true]);
  archive.thaw();
  statements.thaw();
  await eventually('it has ended', async () => (await turnsTaken()) === 0);
  expect((await ask(owner.apiKey)).status).toBe(200);
});

test('an archive that hangs while a statement is prepared takes nothing of the day', async () => {
  archive.freeze();
  expect(refusal(await ask(bench.owner.apiKey))).toEqual([503, 'internal_error']);
  archive.thaw();
  const { rows } = await bench.db.pool.query('SELECT FROM sql_statements WHERE failed_ms > 0');
  expect(rows).toEqual([]);
});

test('a database that answers the charge too late has charged nothing', async () => {
  const { owner, db } = bench;
  const database = await TcpProxy.start(db.url);
  const limits = { ...REQUEST_LIMITS, answerMs: 4_000 };
  const pool = createPool({ url: database.url, name: 'late', logger: silentLogger(), limits });
  const sqlEngine = { ...bench.sqlEngine, clickhouse: clients[0]! };
  const late = await startTestApi(pool, { clickhouse: bench.archive.client, sqlEngine });
  try {
    const before = await balance();
    // Makes the sandbox known to this process.
    expect((await late.call(owner.apiKey, 'POST', '/v1/sql', { query: 'SELECT 1' })).status).toBe(200);
    statements.freeze();
    const asked = late.call(owner.apiKey, 'POST', '/v1/sql', { query: 'SELECT count() FROM matches' });
    await eventually('the statement is with the engine', async () => {
      // The last that it needs of the database before the charge.
      const listed = `SELECT FROM pg_stat_activity WHERE application_name = 'late' AND state = 'idle'
        AND query LIKE '%FROM monitors%' AND backend_start > now() - interval '1 minute'`;
      return (await turnsTaken()) === 1 && (await db.pool.query(listed)).rowCount === 1;
    });
    database.delayAnswers(7_000);
    statements.thaw();
    expect(refusal(await asked)).toEqual([503, 'internal_error']);
    database.delayAnswers(0);
    expect(before - (await balance())).toBe(1);
  } finally {
    statements.thaw();
    // It could not give its turn back.
    await db.pool.query('UPDATE sql_statements SET running_token = NULL, running_until = NULL');
    await late.stop();
    await pool.end();
    await database.stop();
  }
});

test('greedy statements end within their limits, and the engine goes on', async () => {
  for (const statement of GREEDY) {
    const reply = await bench.sql(statement);
    expect([200, 400, 503], `${statement.slice(0, 100)}: ${reply.text.slice(0, 300)}`).toContain(reply.status);
    await bench.db.pool.query('UPDATE sql_statements SET failed_ms = 0');
    expect((await bench.sql('SELECT 1')).status).toBe(200);
  }
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
