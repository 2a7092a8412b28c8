import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/common.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';

let db: TestDatabase;
let api: TestApi;
let receiver: WebhookReceiver;
let owner: TestAccount;
let stranger: TestAccount;
let id: string;

beforeAll(async () => {
  [db, receiver] = await Promise.all([createTestDatabase(), startWebhookReceiver()]);
  api = await startTestApi(db.pool, { allowPrivate: true, lookup: () => Promise.resolve(['127.0.0.1']) });
  owner = await api.account({ credits: 10_000, pack: 79 });
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
    { webhook_url: [] },
    { webhook_kind: 'Slack' },
    { webhook_url: 'https://hooks.slack.com/services/a/b/c', webhook_kind: 'discord' },
    { subreddits: ['r/'] },
    { next_charge_at: '2030-01-01T00:00:00Z' },
    { posts: true, include_posts: false },
    { digest: 'weekly' },
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

describe('options', () => {
  const OWN = 'https://receiver.example/hook';
  const SLACK = 'https://hooks.slack.com/services/a/b/c';

  const create = (body: object, { apiKey } = owner) =>
    api.call(apiKey, 'POST', '/v1/monitors', { name: 'options', keywords: ['rust'], ...body });

  const patch = (id: string, body: object, { apiKey } = owner) => api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body);

  function expectRefusal(reply: Reply, field: string): void {
    const { code, message } = errorEnvelope.parse(reply.body).error;
    expect([reply.status, code, message]).toEqual([
      400,
      'invalid_request',
      expect.stringMatching(new RegExp(`^${field}: `)),
    ]);
  }

  test.each([
    [OWN, {}, { webhook_url: ` ${SLACK}\n` }, [SLACK, 'slack']],
    [SLACK, {}, { webhook_url: OWN }, [OWN, 'generic']],
    [OWN, { webhook_kind: 'slack' }, { webhook_url: OWN }, [OWN, 'slack']],
    [OWN, { webhook_kind: 'slack' }, { webhook_kind: null }, [OWN, 'generic']],
    [OWN, { webhook_kind: 'slack' }, { webhook_url: null }, [null, null]],
    [null, {}, { webhook_url: SLACK, webhook_kind: null }, [SLACK, 'slack']],
  ])('the webhook %s %j becomes by %j: %j', async (url, more, body, shown) => {
    const { id } = await api.monitor(owner.apiKey, url === null ? {} : { webhook_url: url, ...more });
    const reply = await patch(id, body);
    const { webhook_url, webhook_kind } = reply.body.monitor as { webhook_url: unknown; webhook_kind: unknown };
    expect([reply.status, webhook_url, webhook_kind]).toEqual([200, ...shown]);
  });

  test('spikes need a webhook; without it a monitor keeps its digest, which is mailed, and loses its spikes', async () => {
    expectRefusal(await create({ spike_webhook: true, digest: 'hourly' }), 'spike_webhook');
    const { id } = await api.monitor(owner.apiKey, { webhook_url: OWN, digest: 'hourly', spike_webhook: true });
    const { monitor } = (await patch(id, { webhook_url: null })).body;
    expect(monitor).toMatchObject({ webhook_url: null, digest: 'hourly' });
    expect(monitor).not.toHaveProperty('spike_webhook');
    expectRefusal(await patch(id, { spike_webhook: true }), 'spike_webhook');
    expect((await patch(id, { webhook_url: OWN })).body.monitor).not.toHaveProperty('spike_webhook');
    expect((await patch(id, { spike_webhook: true })).body.monitor).toMatchObject({ spike_webhook: true });
  });

  test('a digest needs a webhook where no mail can be sent to the address of the account', async () => {
    const unreachable = await api.account();
    await db.pool.query("UPDATE accounts SET email = 'demo@localhost' WHERE id = $1", [unreachable.accountId]);
    expectRefusal(await create({ digest: 'daily' }, unreachable), 'digest');
    expect((await api.call(unreachable.apiKey, 'GET', '/v1/account')).body.balance).toBe(1_000);
    const created = await create({ digest: 'daily', webhook_url: OWN }, unreachable);
    const { id } = created.body.monitor as { id: string };
    expectRefusal(await patch(id, { webhook_url: null }, unreachable), 'digest');
    expect((await patch(id, { webhook_url: null, digest: null }, unreachable)).status).toBe(200);
    expectRefusal(await patch(id, { digest: 'hourly' }, unreachable), 'digest');
  });

  test('notify is shown while it is on, and is refused where no mail can be sent to the address', async () => {
    const { id, ...created } = await api.monitor(owner.apiKey, { notify: 'email' });
    expect(created).toMatchObject({ notify: 'email' });
    expect((await patch(id, { webhook_url: OWN, digest: 'daily' })).body.monitor).toMatchObject({ notify: 'email' });
    expect((await patch(id, { notify: null })).body.monitor).not.toHaveProperty('notify');
    expect((await patch(id, { notify: 'email' })).body.monitor).toMatchObject({ notify: 'email' });
    for (const notify of ['sms', true, ['email'], '']) expectRefusal(await patch(id, { notify }), 'notify');
    expectRefusal(await create({ notify_stopped: 'bounced' }), 'notify_stopped');
    expect(await api.monitor(owner.apiKey, { notify: null })).not.toHaveProperty('notify');

    const unreachable = await api.account();
    await db.pool.query("UPDATE accounts SET email = 'demo2@localhost' WHERE id = $1", [unreachable.accountId]);
    expectRefusal(await create({ notify: 'email', webhook_url: OWN }, unreachable), 'notify');
    const other = await api.monitor(unreachable.apiKey);
    expectRefusal(await patch(other.id, { notify: 'email' }, unreachable), 'notify');
  });

  test('a monitor of terms alone: pages filter by their texts, and a test delivery names the first', async () => {
    const terms = [
      { text: 'hiring', prefix: true },
      { text: 'IT', case_sensitive: true },
    ];
    const { id } = await api.monitor(owner.apiKey, { keywords: [], terms, webhook_url: receiver.url });
    await recordBatch({ pool: db.pool, toleranceMs: 0 }, [
      candidateOf({ monitorId: id, thingId: 't1_a', terms: ['hiring'] }),
      candidateOf({ monitorId: id, thingId: 't1_b', terms: ['hiring', 'IT'] }),
    ]);
    const things = async (keyword: string) => {
      const { body } = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches?keyword=${keyword}`);
      return (body.items as { thing_id: string }[]).map(({ thing_id }) => thing_id);
    };
    expect([await things('hiring'), await things('IT'), await things('it')]).toEqual([['t1_a', 't1_b'], ['t1_b'], []]);
    expect((await api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/test`)).body).toMatchObject({ delivered: true });
    expect(JSON.parse(receiver.received[0]!.body)).toMatchObject({ match: { matched_terms: ['hiring'] } });
  });

  test('create warns about very common words and doubtful rules, refuses none, and a repeat gives the same', async () => {
    const { apiKey } = await api.account();
    const doubtful = ['rust OR go', 'title:rust', 'rust*', '"new york"', 'gone'];
    const made = await api.call(apiKey, 'POST', '/v1/monitors', {
      ...{ name: 'doubtful', keywords: doubtful, exclude: ['gone'], posts: false, comments: false },
    });
    expect([made.status, (made.body.warnings as { code: string }[]).map(({ code }) => code)]).toEqual([
      201,
      ['nothing_watched', 'keyword_excluded', 'search_operator', 'field_prefix', 'wildcard', 'quotes_ignored'],
    ]);
    expect(made.body.monitor).toMatchObject({ keywords: doubtful });
    const body = { name: 'too much', keywords: ['the', 'rust', 'How'] };
    const create = () => api.call(apiKey, 'POST', '/v1/monitors', body, { 'idempotency-key': 'one' });
    const first = await create();
    expect(first.status).toBe(201);
    expect(first.body.warnings).toMatchObject([
      { field: 'keywords[0]', code: 'common_word' },
      { field: 'keywords[2]', code: 'common_word' },
    ]);
    expect((await create()).text).toBe(first.text);
  });
});
