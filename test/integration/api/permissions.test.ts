import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ErrorEnvelope } from '../../../schemas/api/error-envelope.ts';
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
async function sendTwice(scopes: string[], method: string, target: string): Promise<string[]> {
  const { accountId } = await api.account({ pack: 0 });
  const key = await issueApiKey(db.pool, accountId, 'test', scopes);
  return [await send(key, method, target), await send(key, method, target)];
}

test.each(PERMISSION_CASES)('%s %s', async (method, target, without, permitted) => {
  expect(await sendTwice([], method, target)).toEqual(without);
  expect(await sendTwice(['forum:read'], method, target)).toEqual(permitted);
});
