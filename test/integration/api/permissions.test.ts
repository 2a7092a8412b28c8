import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { KEY_SCOPES } from '../../../schemas/api/account.ts';
import type { KeyScope } from '../../../schemas/api/account.ts';
import type { ErrorEnvelope } from '../../../schemas/api/common.ts';
import { buildOpenApiDocument } from '../../../services/api/openapi/build-openapi.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { describedRoutes } from '../../support/fixtures/idle-api.ts';
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

/** The permission that a route requires. */
function scopeOf(route: string): KeyScope | 'any key' {
  const [method, path] = route.split(' ') as [string, string];
  if (path.startsWith('/v1/forum/')) return 'forum:read';
  if (path.startsWith('/v1/account')) return 'account';
  if (path === '/v1/coverage') return 'any key';
  return method === 'get' ? 'monitors:read' : 'monitors:write';
}

test('each route requires its permission, names it in the refusal and in the description, and nothing else', async () => {
  const { paths } = buildOpenApiDocument(describedRoutes(), 'http://localhost');
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { description }]) => ({ route: `${method} ${path}`, description })),
  );
  const routes = operations.filter(({ route }) => route.includes(' /v1/'));
  expect(routes.length).toBeGreaterThan(50);
  const { accountId } = await api.account();
  for (const scope of KEY_SCOPES) {
    const only = await issueApiKey(db.pool, accountId, 'only', [scope]);
    const others = KEY_SCOPES.filter((other) => other !== scope);
    const without = await issueApiKey(db.pool, accountId, 'without', others);
    for (const { route, description } of routes) {
      const required = scopeOf(route);
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
