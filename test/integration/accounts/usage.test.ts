import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LedgerEntry, Usage } from '../../../schemas/api/account.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { startTestForum } from '../../support/fakes/test-forum.ts';
import type { TestForum } from '../../support/fakes/test-forum.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let forum: TestForum;
let api: TestApi;
beforeAll(async () => {
  [db, forum] = await Promise.all([createTestDatabase(), startTestForum()]);
  api = await startTestApi(db.pool, { forum: forum.forum });
});
afterAll(async () => {
  await api.stop();
  await forum.stop();
  await db.drop();
});

async function usageOf(key: string, query: string): Promise<Usage> {
  const { body } = await api.call(key, 'GET', `/v1/account/usage?${query}`);
  return body as unknown as Usage;
}

async function ledgerOf(key: string): Promise<LedgerEntry[]> {
  return (await api.call(key, 'GET', '/v1/account/ledger?limit=100')).body.items as LedgerEntry[];
}

async function callTool(key: string, id: string, name: string, args: object): Promise<void> {
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-request-id': id };
  const response = await fetch(`${api.url}/mcp`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(await response.text()).toContain('"credits_used":1');
}

test('a charge carries the id, the route and the key of its request, as a tool call too, and usage sums them', async () => {
  await db.moveToNoon(0);
  onTestFinished(() => db.setShift('0'));
  const { accountId, apiKey } = await api.account({ credits: 1_000 });
  const second = await issueApiKey(db.pool, accountId, 'second');
  const [keyId, secondId] = [apiKey.slice(3, 11), second.slice(3, 11)];
  await api.call(apiKey, 'GET', '/v1/forum/subreddit?sub=coffee', undefined, { 'x-request-id': 'a-read' });
  const own = await api.call(second, 'GET', '/v1/forum/search?q=coffee');
  await callTool(second, 'a-tool', 'search_forum', { q: 'coffee' });
  await callTool(second, 'a-post', 'get_forum_post', { id: (await firstPost(apiKey)).id });
  const monitor = await api.monitor(apiKey);
  await api.call(apiKey, 'POST', `/v1/monitors/${monitor.id}/pause`);
  await api.call(apiKey, 'POST', `/v1/monitors/${monitor.id}/resume`, undefined, { 'x-request-id': 'a-resume' });
  await charge(db.pool, { accountId, kind: 'monitor_renewal', credits: 10, reference: `${monitor.id}:3` });

  const rows = (await ledgerOf(apiKey)).map(({ kind, request_id, route, key_id }) => [kind, request_id, route, key_id]);
  expect(rows.toReversed()).toEqual([
    ['grant', null, null, null],
    ['read', 'a-read', 'GET /v1/forum/subreddit', keyId],
    ['read', own.headers.get('x-request-id'), 'GET /v1/forum/search', secondId],
    ['read', 'a-tool', 'GET /v1/forum/search', secondId],
    ['read', expect.any(String), 'GET /v1/forum/subreddit', keyId],
    ['read', 'a-post', 'GET /v1/forum/post', secondId],
    ['monitor_create', expect.any(String), 'POST /v1/monitors', keyId],
    ['monitor_resume', 'a-resume', 'POST /v1/monitors/{id}/resume', keyId],
    ['monitor_renewal', null, null, null],
  ]);

  const total = { charges: 8, credits: 35 };
  const { rows: days } = await db.pool.query<{ day: string }>(
    `SELECT (service_now() AT TIME ZONE 'UTC')::date::text AS day`,
  );
  const { day } = days[0]!;
  const byDay = await usageOf(apiKey, '');
  expect(byDay).toMatchObject({ by: 'day', to: day, total });
  expect((Date.parse(byDay.to) - Date.parse(byDay.from)) / 86_400_000).toBe(29);
  expect(byDay.items).toEqual([{ day, route: null, key_id: null, ...total }]);
  const byRoute = await usageOf(apiKey, 'by=route');
  expect(byRoute.items.map(({ route, charges, credits }) => [route, charges, credits])).toEqual([
    ['POST /v1/monitors', 1, 10],
    ['POST /v1/monitors/{id}/resume', 1, 10],
    [null, 1, 10],
    ['GET /v1/forum/search', 2, 2],
    ['GET /v1/forum/subreddit', 2, 2],
    ['GET /v1/forum/post', 1, 1],
  ]);
  const byKey = await usageOf(apiKey, `by=key&from=${day}&to=${day}`);
  expect(byKey.items.map(({ key_id, charges, credits }) => [key_id, charges, credits])).toEqual([
    [keyId, 4, 22],
    [null, 1, 10],
    [secondId, 3, 3],
  ]);
  expect([byRoute.total, byKey.total]).toEqual([total, total]);
});

async function firstPost(key: string): Promise<{ id: string }> {
  const { body } = await api.call(key, 'GET', '/v1/forum/subreddit?sub=coffee&sort=top&t=all&limit=1');
  return (body.items as { id: string }[])[0]!;
}

test.each([
  ['by=hour', 'by: must be day or route or key'],
  ['from=2026-02-30', 'from: must be a date like 2026-03-04'],
  ['from=2026-01-01&to=2026-04-03', 'from: must be at most 91 days before "to"'],
])('?%s is refused: %s', async (query, message) => {
  const { apiKey } = await api.account();
  const { status, body } = await api.call(apiKey, 'GET', `/v1/account/usage?${query}`);
  expect([status, body.error]).toMatchObject([400, { code: 'invalid_request', message }]);
});
