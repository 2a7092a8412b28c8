import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkCommits } from '../../../services/connect-engines.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createPool, eachInTransaction, inTransaction, REQUEST_LIMITS } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { unavailableEngine } from '../../../shared/runtime/outage-log.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { signalTree } from '../../support/children/process-tree.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';

/** This file stops its own server, so that no other test is affected. */
let engines: RunningEngines<'postgres'>;
let dataDir: string;
let db: TestDatabase;
let pool: Pool;
let forum: TestForum;
let api: TestApi;
/** While this exists, the forum does not answer. */
let held: PromiseWithResolvers<void> | undefined;
let forumCalls = 0;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'forum-test-still-'));
  engines = await startEngines({ dataDir, env: process.env, engines: ['postgres'] });
  db = await createTestDatabase(engines.urls.postgres);
  pool = createPool({ url: db.url, name: 'still', logger: silentLogger(), max: 4, limits: REQUEST_LIMITS });
  forum = await startTestForum();
  const { upstream } = forum.forum;
  const get: typeof upstream.get = async (...args) => {
    forumCalls++;
    await held?.promise;
    return upstream.get(...args);
  };
  api = await startTestApi(pool, {
    forum: { ...forum.forum, upstream: { ...upstream, get, post: upstream.post.bind(upstream) } },
    mailer: { send: () => Promise.resolve() },
  });
});

afterAll(async () => {
  signal('SIGCONT');
  await api.stop();
  await forum.stop();
  await pool.end();
  await db.drop();
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  signalTree(engines.process('postgres').pid, name);
}

async function whileStill<T>(work: () => Promise<T>): Promise<T> {
  signal('SIGSTOP');
  try {
    return await work();
  } finally {
    signal('SIGCONT');
  }
}

const MONITOR = { name: 'a monitor', keywords: ['rust'] };
const TOOL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'list_monitors', arguments: {} },
};
const ROUTES = [
  ['GET', '/v1/account'],
  ['GET', '/v1/account/ledger'],
  ['GET', '/v1/coverage'],
  ['GET', '/v1/forum/subreddits'],
  ['GET', '/v1/monitors'],
  ['POST', '/v1/monitors', MONITOR],
  ['POST', '/mcp', TOOL],
  ['POST', '/api/agent/signup', { email: 'somebody@gmail.com' }],
  ['POST', '/oauth/token', {}],
  ['POST', '/oauth/register', { redirect_uris: ['https://client.example/back'] }],
  ['GET', '/oauth/authorize?client_id=c&response_type=code'],
] as const;

async function ask(key: string, [method, path, body]: (typeof ROUTES)[number]): Promise<[number, string | null]> {
  const response = await fetch(`${api.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
  });
  await response.text();
  return [response.status, response.headers.get('retry-after')];
}

async function booked(accountId: string): Promise<unknown> {
  const { rows } = await db.pool.query(
    `SELECT balance, (SELECT count(*) FROM ledger_entries WHERE account_id = $1) AS moves,
       (SELECT count(*) FROM monitors WHERE account_id = $1) AS monitors
     FROM accounts WHERE id = $1`,
    [accountId],
  );
  return rows[0];
}

test('every route answers 503 with Retry-After, also for more requests than connections; nothing is charged, and everything recovers', async () => {
  const account = await api.account({ credits: 100 });
  expect((await api.call(account.apiKey, 'GET', '/v1/forum/subreddits')).status).toBe(200);
  const before = await booked(account.accountId);
  held = Promise.withResolvers();
  const calls = forumCalls;
  // Admitted before the server stops, charged after.
  const underWay = api.call(account.apiKey, 'GET', '/v1/forum/subreddits?limit=7');
  await eventually('the forum is asked', () => forumCalls > calls);
  const answers = await whileStill(async () => {
    held?.resolve();
    const all = [...ROUTES, ...ROUTES, ...ROUTES].map((route) => ask(account.apiKey, route));
    const reply = await underWay;
    expect([reply.status, reply.body.error]).toEqual([
      503,
      {
        code: 'internal_error',
        message: expect.any(String) as string,
        doc_url: expect.stringContaining('#internal_error') as string,
        retryable: true,
        retry_after: 5,
      },
    ]);
    return Promise.all(all);
  });
  expect(answers.map(([status, wait], at) => [ROUTES[at % ROUTES.length]?.[1], status, wait])).toEqual(
    answers.map((_, at) => [ROUTES[at % ROUTES.length]?.[1], 503, '5']),
  );
  await eventually('an answer again', async () => (await ask(account.apiKey, ROUTES[0]))[0] === 200);
  expect(await booked(account.accountId)).toEqual(before);
  expect((await api.call(account.apiKey, 'POST', '/v1/monitors', MONITOR)).status).toBe(201);
});

test('a transaction whose COMMIT reached a stopped server is not committed later', async () => {
  await pool.query('CREATE TABLE IF NOT EXISTS doubts (id int)');
  const committing = inTransaction(pool, async (client) => {
    await client.query('INSERT INTO doubts VALUES (1)');
    signal('SIGSTOP');
  }).finally(() => signal('SIGCONT'));
  const error = await committing.catch((failure: unknown) => failure);
  expect(unavailableEngine(error)).toBe('postgres');
  await eventually('the session is over', async () => {
    const { rowCount } = await db.pool.query(
      `SELECT FROM pg_stat_activity WHERE application_name = 'still' AND state LIKE 'idle in transaction%'`,
    );
    return rowCount === 0;
  });
  expect((await db.pool.query('SELECT FROM doubts')).rowCount).toBe(0);
});

test('a charge that was under way in a stopped server is not committed later', async () => {
  await pool.query('CREATE TABLE IF NOT EXISTS charges_under_way (id int)');
  const running = eachInTransaction(pool).query({
    name: 'under-way',
    text: 'INSERT INTO charges_under_way SELECT 1 FROM pg_sleep(4)',
  });
  await eventually('the statement runs', async () => {
    const { rowCount } = await db.pool.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`);
    return rowCount === 1;
  });
  const error = await whileStill(() => running.catch((failure: unknown) => failure));
  expect(unavailableEngine(error)).toBe('postgres');
  await eventually('the session is over', async () => {
    const { rowCount } = await db.pool.query(
      `SELECT FROM pg_stat_activity WHERE application_name = 'still' AND query LIKE '%under_way%' AND state <> 'idle'`,
    );
    return rowCount === 0;
  });
  expect((await db.pool.query('SELECT FROM charges_under_way')).rowCount).toBe(0);
});

test('where commits wait for a missing standby, a start waits, reads are answered and charged, and a create says that its outcome is unknown', async () => {
  const account = await api.account({ credits: 100 });
  const settings = (names: string) => [
    `ALTER SYSTEM SET synchronous_standby_names = '${names}'`,
    'SELECT pg_reload_conf()',
  ];
  const apply = async (names: string) => {
    for (const statement of settings(names)) await db.pool.query(statement);
    await eventually('the setting is in force', async () => {
      const { rows } = await db.pool.query<{ names: string }>('SHOW synchronous_standby_names');
      return Object.values(rows[0]!)[0] === names;
    });
  };
  await apply('nobody');
  const config = { postgresMustBeSynchronous: true };
  const start = checkCommits({ pool, config, logger: silentLogger(), postgresUrl: db.url });
  const missing = await start.catch((failure: unknown) => failure);
  expect([String(missing), isPostgresUnavailable(missing)]).toEqual([
    expect.stringContaining('no synchronous standby'),
    true,
  ]);
  const reads = [3, 4, 5].map((limit) => api.call(account.apiKey, 'GET', `/v1/forum/subreddits?limit=${limit}`));
  const statuses = (await Promise.all(reads)).map(({ status }) => status);
  const waiting = await db.pool.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
  const create = api.call(account.apiKey, 'POST', '/v1/monitors', MONITOR);
  const reply = await create.finally(() => apply(''));
  expect([statuses, waiting.rowCount, reply.status]).toEqual([[200, 200, 200], 0, 503]);
  expect(reply.body.error).toMatchObject({
    code: 'internal_error',
    message: expect.stringContaining('it is not known whether the request took effect') as string,
    retryable: true,
  });
  await eventually('the commit is over', async () => {
    const { rowCount } = await db.pool.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
    return rowCount === 0;
  });
  const { body } = await api.call(account.apiKey, 'GET', '/v1/account/ledger');
  expect(body.items).toMatchObject([
    { kind: 'monitor_create', balance_after: 87 },
    ...[97, 98, 99].map((balance_after) => ({ kind: 'read', balance_after })),
    { amount: 100 },
  ]);
});
