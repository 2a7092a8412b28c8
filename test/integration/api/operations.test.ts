import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

const PATIENT = { timeout: 60_000 };

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitorId: string;
let logged = '';

beforeAll(async () => {
  db = await createTestDatabase();
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged += chunk.toString();
      done();
    },
  });
  api = await startTestApi(db.pool, { logger: createLogger('debug', sink) });
  owner = await api.account();
  monitorId = (await api.monitor(owner.apiKey, { webhook_url: 'https://receiver.example/secret-path' })).id;
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

test('both headers work; a revoked key, a frozen and a deleted account are refused at once', async () => {
  const { accountId, apiKey } = await api.account();
  const status = async () =>
    (await api.call(undefined, 'GET', '/v1/account', undefined, { 'X-Api-Key': apiKey })).status;
  expect([await status(), (await api.call(apiKey, 'GET', '/v1/account')).status]).toEqual([200, 200]);
  for (const [state, refusal] of [
    ['frozen', 403],
    ['deleted', 401],
  ]) {
    await db.pool.query('UPDATE accounts SET status = $2 WHERE id = $1', [accountId, state]);
    expect(await status()).toBe(refusal);
  }
  await db.pool.query(`UPDATE accounts SET status = 'active' WHERE id = $1`, [accountId]);
  expect(await status()).toBe(200);
  await db.pool.query('UPDATE api_keys SET revoked_at = service_now() WHERE account_id = $1', [accountId]);
  expect(await status()).toBe(401);
});

test('an internal error answers 500 with only the request id', async () => {
  const gone = createPool({ url: db.url, name: 'gone', logger: silentLogger() });
  await gone.end();
  const broken = await startTestApi(gone);
  const reply = await broken.call(owner.apiKey, 'GET', '/v1/account', undefined, { 'x-request-id': 'my-own.id_1' });
  await broken.stop();
  expect(reply.status).toBe(500);
  expect(reply.headers.get('x-request-id')).toBe('my-own.id_1');
  expect(reply.body).toEqual({
    error: { code: 'internal_error', message: 'Something broke on our side (request my-own.id_1).', retryable: true },
  });
});

test('/healthz answers, and /readyz names the parts that do not', async () => {
  let ready = false;
  let checks = 0;
  const probe = () => {
    checks++;
    return Promise.resolve({ ready, parts: { postgres: true, kafka: ready } });
  };
  const probed = await startTestApi(db.pool, { ready: probe });
  expect((await probed.call(undefined, 'GET', '/healthz')).status).toBe(200);
  const waiting = await probed.call(undefined, 'GET', '/readyz');
  expect([waiting.status, waiting.body]).toEqual([503, { ready: false, parts: { postgres: true, kafka: false } }]);
  ready = true;
  const begun = performance.now();
  const isReady = async () => (await probed.call(undefined, 'GET', '/readyz')).status === 200;
  await eventually('the answer of the next check', isReady);
  await Promise.all(Array.from({ length: 100 }, isReady));
  // All requests share one check per second.
  expect(checks).toBeLessThanOrEqual(2 + (performance.now() - begun) / 1_000);
  await probed.stop();
  const failing = await startTestApi(db.pool, { ready: () => Promise.reject(new Error('no')) });
  expect((await failing.call(undefined, 'GET', '/readyz')).status).toBe(503);
  await failing.stop();
});

test('requests are counted by route pattern and logged without key, query or secret', async () => {
  await api.call(owner.apiKey, 'GET', `/v1/monitors/${monitorId}/matches?limit=7`);
  const counted = await api.metrics.registry.metrics();
  expect(counted).toContain('route="/v1/monitors/:id/matches",status="200"');
  expect(counted).not.toContain(monitorId);
  const line = logged.split('\n').find((text) => text.includes(`"path":"/v1/monitors/${monitorId}/matches"`));
  expect(JSON.parse(line!)).toMatchObject({
    account_id: owner.accountId,
    status: 200,
    requestId: expect.any(String) as string,
  });
  expect(logged).not.toContain(owner.apiKey.slice(11));
  expect(logged).not.toMatch(/whsec_|limit=7|secret-path/);
});

test('a stop lets requests under way finish', async () => {
  const stopping = await startTestApi(db.pool);
  const holder = await db.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM monitor_counters WHERE monitor_id = $1 FOR UPDATE', [monitorId]);
  const paused = stopping.call(owner.apiKey, 'POST', `/v1/monitors/${monitorId}/pause`);
  await vi.waitFor(async () => {
    const { rowCount } = await db.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect(rowCount).toBe(1);
  }, PATIENT);
  const stopped = stopping.stop();
  await holder.query('COMMIT');
  holder.release();
  expect((await paused).status).toBe(200);
  const answered = performance.now();
  await stopped;
  expect(performance.now() - answered).toBeLessThan(4_500);
  await expect(stopping.call(owner.apiKey, 'GET', '/v1/account')).rejects.toThrow();
});

test('a whole key sent by mistake in a path is not logged', async () => {
  const { apiKey } = await api.account();
  const made = (await api.call(apiKey, 'POST', '/v1/account/keys', { name: 'x' })).body.api_key as string;
  expect((await api.call(apiKey, 'DELETE', `/v1/account/keys/${made}`)).status).toBe(404);
  await fetch(`${api.url}/${made.toUpperCase()}`);
  await vi.waitFor(() => expect(logged).toContain('"path":"/FK_'), PATIENT);
  expect(logged).toContain(`"path":"/v1/account/keys/${made.slice(0, 11)}…"`);
  expect(logged.toLowerCase()).not.toContain(made.slice(11));
});
