import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
let monitor: string;

beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
  monitor = `/v1/monitors/${(await api.monitor(owner.apiKey)).id}`;
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

test.each([
  { path: '/matches?keyword=%00', field: 'keyword' },
  { path: '/matches?keyword=a%00b&order=newest', field: 'keyword' },
  { path: '/matches?since=0000-01-01T00:00:00Z', field: 'since' },
  { path: '/matches?until=2026-01-01T00:00:00%2B16:00', field: 'until' },
  { path: '/events?after=%00', field: 'after' },
  { path: '/backfill', body: { from: '0000-01-01T00:00:00Z' }, field: 'from' },
  {
    path: '/backfill',
    body: { from: new Date(Date.now() - 7_200_000).toISOString().replace('Z', '+20:00') },
    field: 'from',
  },
])('$path $body is refused, because the database could not read it', async ({ path, body, field }) => {
  const reply = await api.call(owner.apiKey, body === undefined ? 'GET' : 'POST', monitor + path, body);
  expect(reply.status).toBe(400);
  expect(errorEnvelope.parse(reply.body).error).toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(`^${field}: `) as string,
  });
});

test('days of the year 0 are refused; an offset of 15 hours is read', async () => {
  const usage = await api.call(owner.apiKey, 'GET', '/v1/account/usage?from=0000-01-01&to=0000-01-05');
  expect([usage.status, (usage.body.error as { message: string }).message]).toEqual([
    400,
    expect.stringMatching('^from: '),
  ]);
  const path = `${monitor}/matches?since=2026-01-01T00:00:00%2B15:00`;
  expect((await api.call(owner.apiKey, 'GET', path)).status).toBe(200);
});
