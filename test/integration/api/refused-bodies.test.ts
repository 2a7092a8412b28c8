import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitorId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account({ credits: 100, pack: 79 });
  monitorId = (await api.monitor(owner.apiKey)).id;
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

function expectRefusal(reply: Reply, status: number, code: string, message: string): void {
  const { error } = errorEnvelope.parse(reply.body);
  expect([reply.status, error.code]).toEqual([status, code]);
  expect(error.message).toMatch(new RegExp(message));
}

/** Routes below /v1/monitors that read a body. `ID` stands for a monitor. */
const ROUTES = [
  ['POST', '/v1/monitors'],
  ['POST', '/v1/monitors/parse'],
  ['POST', '/v1/monitors/preview'],
  ['POST', '/v1/monitors/ID/diff'],
  ['POST', '/v1/monitors/explain'],
  ['PATCH', '/v1/monitors/ID'],
] as const;

describe.each(ROUTES)('%s %s', (method, path) => {
  const send = (body: unknown, headers?: Record<string, string>) =>
    api.call(owner.apiKey, method, path.replace('ID', monitorId), body, headers);

  test('refuses other content types', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expectRefusal(await send('name=x', form), 415, 'unsupported_media_type', 'application/json');
    const encoded = await send('{}', { 'content-encoding': 'x-unknown' });
    expectRefusal(encoded, 415, 'unsupported_media_type', '^body: ');
  });

  test('refuses a body that is too large', async () => {
    expectRefusal(await send({ name: 'x'.repeat(140_000) }), 413, 'payload_too_large', '^body: ');
  });

  test('accepts only JSON objects', async () => {
    expectRefusal(await send('[]'), 400, 'invalid_request', '^body: must be a JSON object');
    expectRefusal(await send('{'), 400, 'invalid_request', '^body: ');
  });
});
