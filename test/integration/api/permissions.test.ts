import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import type { KeyScope } from '../../../schemas/api/account.ts';
import type { ErrorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { buildOpenApiDocument } from '../../../services/api/openapi/build-openapi.ts';
import { issueApiKey } from '../../../shared/stores/accounts/api-keys.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { PERMISSION_CASES } from './permissions.cases.ts';

let db: TestDatabase;
let api: TestApi;

beforeAll(async () => {
  db = await createTestDatabase();
  await db.pool.query(`UPDATE service_clock SET frozen_at = '2031-05-06T20:00:00Z'`);
  api = await startTestApi(db.pool, { limits: 'plans' });
});

afterAll(async () => {
  await api.stop();
  await db.drop();
});

/** Sends the target as written: `fetch` would resolve its dots and encode its characters. */
function send(key: string, method: string, target: string): Promise<string> {
  const { hostname, port } = new URL(api.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path: target, headers: { authorization: `Bearer ${key}` } });
    sent.once('error', reject);
    sent.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.once('end', () => {
        const { headers, statusCode } = response;
        const code = text.startsWith('{"error"') ? (JSON.parse(text) as ErrorEnvelope).error.code : '-';
        const limits = [headers.ratelimit ?? '-', headers['x-credits-remaining'] ?? '-', headers['retry-after'] ?? '-'];
        resolve([statusCode, code, ...limits, headers.allow ?? '-'].join(' '));
      });
    });
    sent.end();
  });
}

/** The answers to two requests of a free account, which may send one: the second meets the limit. */
async function sendTwice(scopes: readonly KeyScope[], method: string, target: string): Promise<string[]> {
  const { accountId } = await api.account({ pack: 0 });
  const key = await issueApiKey(db.pool, accountId, 'test', scopes);
  return [await send(key, method, target), await send(key, method, target)];
}

test.each(PERMISSION_CASES)('%s %s', async (method, target, without, permitted) => {
  expect(await sendTwice([], method, target)).toEqual(without);
  expect(await sendTwice(KEY_SCOPES, method, target)).toEqual(permitted);
});

/** The permission that each route requires. A route that is not listed here fails the test below. */
const ROUTE_SCOPES: Record<string, KeyScope | 'any key'> = {
  'get /v1/forum/post': 'forum:read',
  'get /v1/forum/post/duplicates': 'forum:read',
  'get /v1/forum/things': 'forum:read',
  'get /v1/forum/subreddit': 'forum:read',
  'get /v1/forum/subreddit/about': 'forum:read',
  'get /v1/forum/subreddit/comments': 'forum:read',
  'get /v1/forum/subreddits': 'forum:read',
  'get /v1/forum/user': 'forum:read',
  'get /v1/forum/user/posts': 'forum:read',
  'get /v1/forum/user/comments': 'forum:read',
  'get /v1/forum/search': 'forum:read',
  'get /v1/forum/search/comments': 'forum:read',
  'get /v1/monitors': 'monitors:read',
  'post /v1/monitors': 'monitors:write',
  'post /v1/monitors/parse': 'monitors:write',
  'get /v1/monitors/{id}': 'monitors:read',
  'patch /v1/monitors/{id}': 'monitors:write',
  'delete /v1/monitors/{id}': 'monitors:write',
  'post /v1/monitors/{id}/pause': 'monitors:write',
  'post /v1/monitors/{id}/resume': 'monitors:write',
  'get /v1/monitors/{id}/matches': 'monitors:read',
  'get /v1/monitors/{id}/matches/export': 'monitors:read',
  'get /v1/monitors/{id}/stream': 'monitors:read',
  'post /v1/sql': 'monitors:read',
  'post /v1/monitors/preview': 'monitors:write',
  'post /v1/monitors/{id}/diff': 'monitors:write',
  'post /v1/monitors/explain': 'monitors:write',
  'get /v1/monitors/{id}/explain': 'monitors:read',
  'get /v1/monitors/{id}/mutes': 'monitors:read',
  'post /v1/monitors/{id}/mutes': 'monitors:write',
  'delete /v1/monitors/{id}/mutes/{mute_id}': 'monitors:write',
  'get /v1/monitors/{id}/timeseries': 'monitors:read',
  'get /v1/monitors/{id}/latency': 'monitors:read',
  'get /v1/monitors/{id}/backfill': 'monitors:read',
  'post /v1/monitors/{id}/backfill': 'monitors:write',
  'delete /v1/monitors/{id}/backfill/{run_id}': 'monitors:write',
  'post /v1/monitors/{id}/feed-token': 'monitors:write',
  'delete /v1/monitors/{id}/feed-token': 'monitors:write',
  'get /v1/monitors/{id}/deliveries': 'monitors:read',
  'get /v1/monitors/{id}/events': 'monitors:read',
  'post /v1/monitors/{id}/redeliver': 'monitors:write',
  'post /v1/monitors/{id}/rotate-secret': 'monitors:write',
  'post /v1/monitors/{id}/test': 'monitors:write',
  'get /v1/coverage': 'any key',
  'get /v1/account': 'account',
  'delete /v1/account': 'account',
  'get /v1/account/ledger': 'account',
  'get /v1/account/usage': 'account',
  'get /v1/account/keys': 'account',
  'post /v1/account/keys': 'account',
  'delete /v1/account/keys/{id}': 'account',
  'get /v1/account/grants': 'account',
  'delete /v1/account/grants/{id}': 'account',
};

test('each route requires its permission, names it in the refusal and in the description, and nothing else', async () => {
  const { paths } = buildOpenApiDocument('http://localhost');
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { description }]) => ({ route: `${method} ${path}`, description })),
  );
  const routes = operations.filter(({ route }) => route.includes(' /v1/'));
  expect(routes.map(({ route }) => route).sort()).toEqual(Object.keys(ROUTE_SCOPES).sort());
  const { accountId } = await api.account();
  for (const scope of KEY_SCOPES) {
    const only = await issueApiKey(db.pool, accountId, 'only', [scope]);
    const others = KEY_SCOPES.filter((other) => other !== scope);
    const without = await issueApiKey(db.pool, accountId, 'without', others);
    for (const { route, description } of routes) {
      const required = ROUTE_SCOPES[route]!;
      const [method, path] = route.replace('{id}', 'x').split(' ') as [string, string];
      const refusal = async (key: string) => {
        const { error } = (await api.call(key, method.toUpperCase(), path)).body as Partial<ErrorEnvelope>;
        return error?.code === 'insufficient_scope' ? error.message : 'admitted';
      };
      const lacks = required === 'any key' ? 'admitted' : `This key lacks the permission ${required}.`;
      expect([route, await refusal(only)]).toEqual([route, scope === required ? 'admitted' : lacks]);
      expect([route, await refusal(without)]).toEqual([route, scope === required ? lacks : 'admitted']);
      expect([route, /Permission: `(.+)`\.$/.exec(description)?.[1] ?? 'any key']).toEqual([route, required]);
    }
  }
});
