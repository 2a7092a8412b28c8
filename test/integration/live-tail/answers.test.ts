import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitorId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
  monitorId = (await api.monitor(owner.apiKey)).id;
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

const pathOf = (id: string, query = '') => `/v1/monitors/${id}/stream${query}`;

test('HEAD answers with the headers and opens no stream', async () => {
  const { apiKey, accountId } = await api.account();
  const { id } = await api.monitor(apiKey);
  const reply = await api.call(apiKey, 'HEAD', pathOf(id));
  expect([reply.status, reply.text]).toEqual([200, '']);
  expect(reply.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(reply.headers.get('content-length')).toBeNull();
  const { rowCount } = await db.pool.query('SELECT FROM live_tails WHERE account_id = $1', [accountId]);
  expect(rowCount).toBe(0);
  expect((await api.call(apiKey, 'HEAD', pathOf(id, '?after=x'))).status).toBe(400);
});

test.each([
  ['application/json', 406],
  ['text/html, image/*', 406],
  ['*/*', 200],
  ['text/*', 200],
  ['text/event-stream', 200],
])('Accept: %s is %i', async (accept, status) => {
  const reply = await api.call(owner.apiKey, 'GET', pathOf(monitorId), undefined, { accept });
  expect(reply.status).toBe(status);
});

test("refuses another method, a missing key and another account's monitor", async () => {
  const id = monitorId;
  const posted = await api.call(owner.apiKey, 'POST', pathOf(id));
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  for (const headers of [{}, { 'x-api-key': `fk_${'0'.repeat(40)}` }]) {
    expect((await api.call(undefined, 'GET', pathOf(id), undefined, headers)).status).toBe(401);
  }
  const stranger = await api.account();
  for (const path of [pathOf(id), pathOf('x'), pathOf('mon_000000000000')]) {
    const reply = await api.call(stranger.apiKey, 'GET', path);
    expect([reply.status, reply.body.error]).toMatchObject([404, { code: 'not_found', message: 'No such monitor.' }]);
  }
});

test('a stream is free, even without credits, and counts as one request', async () => {
  const poor = await api.account({ credits: 10 });
  const { id } = await api.monitor(poor.apiKey);
  const reply = await api.call(poor.apiKey, 'GET', pathOf(id));
  expect([reply.status, reply.headers.get('x-credits-remaining')]).toEqual([200, '0']);
  const planned = await startTestApi(db.pool, { limits: 'plans' });
  const free = await api.account({ pack: 0 });
  const { id: watched } = await api.monitor(free.apiKey);
  await db.freeze();
  const first = await planned.call(free.apiKey, 'GET', pathOf(watched));
  const second = await planned.call(free.apiKey, 'GET', pathOf(watched));
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  expect([first.status, second.status]).toEqual([200, 429]);
  expect(first.headers.get('ratelimit')).toContain('"day";r=99');
  await planned.stop();
});
