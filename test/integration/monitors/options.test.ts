import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const OWN = 'https://receiver.example/hook';
const SLACK = 'https://hooks.slack.com/services/a/b/c';
const DISCORD = 'https://discord.com/api/webhooks/1/x';

const CONSEQUENCE = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';
const common = (field: string, text: string) => ({ field, code: 'common_word', message: `${text}: ${CONSEQUENCE}` });
const OF_THE = common('keywords[0]', '"the" is in about 40 % of all items');
const OF_HOW = common('keywords[2]', '"How" is in about 10 % of all items');

let db: TestDatabase;
let api: TestApi;
let receiver: WebhookReceiver;
let owner: TestAccount;
beforeAll(async () => {
  [db, receiver] = await Promise.all([createTestDatabase(), startWebhookReceiver()]);
  api = await startTestApi(db.pool, { allowPrivate: true, lookup: () => Promise.resolve(['127.0.0.1']) });
  owner = await api.account({ credits: 10_000, pack: 79 });
});
afterAll(async () => {
  await api.stop();
  await receiver.stop();
  await db.drop();
});

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
  [OWN, {}, { webhook_url: SLACK }, [SLACK, 'slack']],
  [OWN, {}, { webhook_url: DISCORD }, [DISCORD, 'discord']],
  [SLACK, {}, { webhook_url: OWN }, [OWN, 'generic']],
  [OWN, { webhook_kind: 'slack' }, { webhook_url: OWN }, [OWN, 'slack']],
  [OWN, { webhook_kind: 'slack' }, { webhook_kind: null }, [OWN, 'generic']],
  [OWN, {}, { webhook_kind: 'discord' }, [OWN, 'discord']],
  [OWN, { webhook_kind: 'slack' }, { webhook_url: null }, [null, null]],
  [OWN, {}, { webhook_url: '', webhook_kind: null }, [null, null]],
  [null, {}, { webhook_url: '' }, [null, null]],
  [null, {}, { webhook_url: SLACK, webhook_kind: null }, [SLACK, 'slack']],
  [null, {}, { webhook_url: OWN, webhook_kind: 'slack' }, [OWN, 'slack']],
])('the webhook %s %j becomes by %j: %j', async (url, more, body, shown) => {
  const { id } = await api.monitor(owner.apiKey, url === null ? {} : { webhook_url: url, ...more });
  const reply = await patch(id, body);
  const { webhook_url, webhook_kind } = reply.body.monitor as { webhook_url: unknown; webhook_kind: unknown };
  expect([reply.status, webhook_url, webhook_kind]).toEqual([200, ...shown]);
});

test('null and false switch digest and spikes off, and mean nothing at creation', async () => {
  for (const off of [{ digest: null, spike_webhook: null }, { spike_webhook: false }]) {
    const { body } = await create(off);
    expect(body.monitor).not.toHaveProperty('digest');
    expect(body.monitor).not.toHaveProperty('spike_webhook');
  }
  const { id } = await api.monitor(owner.apiKey, { webhook_url: OWN, digest: 'hourly', spike_webhook: true });
  expect((await patch(id, { digest: 'daily' })).body.monitor).toMatchObject({ digest: 'daily', spike_webhook: true });
  const { monitor } = (await patch(id, { digest: null, spike_webhook: false })).body;
  expect(monitor).not.toHaveProperty('digest');
  expect(monitor).not.toHaveProperty('spike_webhook');
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
  expect(Object.keys(first.body)).toEqual(['monitor', 'webhook_secret', 'warnings']);
  expect(first.body.warnings).toEqual([OF_THE, OF_HOW]);
  expect((await create()).text).toBe(first.text);
});

test('PATCH checks the rule as it is after the change', async () => {
  const { apiKey } = await api.account();
  const { id } = await api.monitor(apiKey, { keywords: ['rust'] });
  const patch = async (body: object) => (await api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body)).body;
  expect(Object.keys(await patch({ name: 'renamed' }))).toEqual(['monitor']);
  expect((await patch({ keywords: ['the', 'rust'] })).warnings).toEqual([OF_THE]);
  // The PATCH changes nothing, and the warning remains.
  expect((await patch({})).warnings).toEqual([OF_THE]);
  expect(Object.keys(await patch({ subreddits: ['rust'] }))).toEqual(['monitor']);
  expect((await patch({ subreddits: [] })).warnings).toEqual([OF_THE]);
  const excluded = await patch({ exclude: ['Rust'] });
  expect(excluded.warnings).toMatchObject([{ field: 'keywords[1]', code: 'keyword_excluded' }, OF_THE]);
});
