import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let db: TestDatabase;
let api: TestApi;
let receiver: WebhookReceiver;
let owner: TestAccount;
let stranger: TestAccount;
let id: string;

beforeAll(async () => {
  [db, receiver] = await Promise.all([createTestDatabase(), startWebhookReceiver()]);
  api = await startTestApi(db.pool, { allowPrivate: true, lookup: () => Promise.resolve(['127.0.0.1']) });
  owner = await api.account();
  stranger = await api.account();
  id = (await api.monitor(owner.apiKey, { webhook_url: receiver.url })).id;
});
afterAll(async () => {
  await api.stop();
  await receiver.stop();
  await db.drop();
});

function codeOf(reply: Reply): [number, string] {
  const { error } = errorEnvelope.parse(reply.body);
  expect(error.retryable).toBe(false);
  expect(reply.headers.get('x-credits-used')).toBeNull();
  return [reply.status, error.code];
}

const BY_ID = [
  ['GET', '', undefined],
  ['PATCH', '', { name: 'x' }],
  ['POST', '/pause', undefined],
  ['POST', '/resume', undefined],
  ['POST', '/rotate-secret', undefined],
  ['POST', '/test', undefined],
  ['POST', '/redeliver', { status: 'failed' }],
  ['GET', '/matches', undefined],
  ['GET', '/deliveries', undefined],
  ['GET', '/events', undefined],
  ['GET', '/stream', undefined],
  ['GET', '/timeseries', undefined],
  ['GET', '/latency', undefined],
  ['GET', '/explain?thing=t3_abc', undefined],
  ['POST', '/diff', { changes: { nsfw: true } }],
  ['GET', '/mutes', undefined],
  ['POST', '/mutes', { kind: 'author', value: 'ana' }],
  ['DELETE', '/mutes/mute_000000000000', undefined],
  ['GET', '/matches/export?format=csv', undefined],
  ['GET', '/backfill', undefined],
  ['POST', '/backfill', { from: '2026-01-01T00:00:00Z' }],
  ['DELETE', '/backfill/bf_000000000000', undefined],
  ['POST', '/feed-token', undefined],
  ['DELETE', '/feed-token', undefined],
] as const;

describe('nothing is charged, created, sent or changed', () => {
  let before: unknown;
  beforeEach(async () => {
    before = await refusedState(db.pool);
  });
  afterEach(async () => {
    expect(await refusedState(db.pool)).toEqual(before);
    expect(receiver.received).toEqual([]);
  });

  test.each(BY_ID)('%s {id}%s of another account, unknown or malformed is one and the same 404', async (...route) => {
    const [method, rest, body] = route;
    const call = (key: string | undefined, which: string, sent: unknown = body) =>
      api.call(key, method, `/v1/monitors/${which}${rest}`, sent);
    const foreign = await call(stranger.apiKey, id);
    expect([codeOf(foreign), foreign.body.error]).toMatchObject([[404, 'not_found'], { message: 'No such monitor.' }]);
    for (const which of ['mon_000000000000', 'mon_', '%00', 'a%2Fb', 'mon_00000000000I', 'ü'.repeat(300)]) {
      expect((await call(owner.apiKey, which)).body, which).toEqual(foreign.body);
    }
    expect(codeOf(await call(undefined, id, method === 'GET' ? undefined : '{'))).toEqual([401, 'unauthorized']);
  });

  test('checks the request before it looks for the monitor, and both before credits', async () => {
    const poor = await api.account({ credits: 0 });
    before = await refusedState(db.pool);
    const call = (method: string, path: string, body?: unknown) =>
      api.call(poor.apiKey, method, `/v1/monitors${path}`, body);
    expect(codeOf(await call('PATCH', '/mon_000000000000', { keywords: [] }))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('GET', '/mon_000000000000/matches?limit=0'))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('POST', '/mon_000000000000/resume'))).toEqual([404, 'not_found']);
    expect(codeOf(await call('POST', '', { name: 'x', keywords: [] }))).toEqual([400, 'invalid_request']);
    expect(codeOf(await call('POST', '', { name: 'x', keywords: ['rust'] }))).toEqual([402, 'insufficient_credits']);
  });

  test.each([
    { webhook_url: null, webhook_kind: 'generic' },
    { webhook_url: ' ' },
    { webhook_url: [] },
    { webhook_kind: '' },
    { webhook_kind: 'Slack' },
    { webhook_url: 'https://hooks.slack.com/services/a/b/c', webhook_kind: 'discord' },
    { name: null },
    { keywords: null },
    { posts: null },
    { keywords: [' '] },
    { subreddits: ['r/'] },
    { next_charge_at: '2030-01-01T00:00:00Z' },
    { posts: true, include_posts: false },
    { digest: '' },
    { digest: 'weekly' },
    { digest: ['hourly'] },
    { spike_webhook: 'true' },
    { spike_webhook: true, webhook_url: null },
    { digest: 'weekly', name: 'renamed' },
  ])('PATCH refuses %j', async (body) => {
    expect(codeOf(await api.call(owner.apiKey, 'PATCH', `/v1/monitors/${id}`, body))).toEqual([400, 'invalid_request']);
  });
});

test('a create of an account that cannot pay is refused before the name of its webhook is looked up', async () => {
  let lookups = 0;
  const watched = await startTestApi(db.pool, { lookup: () => Promise.resolve([`93.184.216.${++lookups}`]) });
  const create = async (credits: number, webhook_url: string) => {
    const { apiKey } = await watched.account({ credits });
    const body = { name: 'x', keywords: ['rust'], webhook_url };
    return (await watched.call(apiKey, 'POST', '/v1/monitors', body)).status;
  };
  expect(await create(9, 'ftp://hooks.example.com')).toBe(400);
  expect([await create(9, 'https://hooks.example.com/a'), lookups]).toEqual([402, 0]);
  expect([await create(10, 'https://hooks.example.com/a'), lookups > 0]).toEqual([201, true]);
  await watched.stop();
});
