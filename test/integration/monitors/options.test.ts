import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorEnvelope } from '../../../schemas/api/error-envelope.ts';
import { refusedState } from '../../support/fixtures/refused-state.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { Reply, TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const URL = 'https://receiver.example/hook';
const RULE = { name: 'options', keywords: ['rust'] };
const PERIOD = 'must be hourly or daily';
const NEEDS_URL = 'needs a webhook_url';
const NO_ADDRESS = 'needs a webhook_url, because no mail can be sent to the address of the account';

let db: TestDatabase;
let api: TestApi;
let owner: TestAccount;
/** Its account has an address that no mail can be sent to. */
let unreachable: TestAccount;
beforeAll(async () => {
  db = await createTestDatabase();
  api = await startTestApi(db.pool);
  owner = await api.account();
  unreachable = await api.account();
  await db.pool.query("UPDATE accounts SET email = 'demo@localhost' WHERE id = $1", [unreachable.accountId]);
});
afterAll(async () => {
  await api.stop();
  await db.drop();
});

const create = (body: object, { apiKey } = owner) => api.call(apiKey, 'POST', '/v1/monitors', { ...RULE, ...body });
const patch = (id: string, body: object, { apiKey } = owner) => api.call(apiKey, 'PATCH', `/v1/monitors/${id}`, body);

function expectRefusal(reply: Reply, ...messages: string[]): void {
  const { code, message } = errorEnvelope.parse(reply.body).error;
  expect([reply.status, code, message]).toEqual([400, 'invalid_request', messages.join('; ')]);
}

describe('what is refused changes nothing', () => {
  let plain: string;
  let hooked: string;
  let before: unknown;
  beforeAll(async () => {
    plain = (await api.monitor(owner.apiKey)).id;
    hooked = (await api.monitor(owner.apiKey, { webhook_url: URL, digest: 'daily', spike_webhook: true })).id;
  });
  beforeEach(async () => {
    before = await refusedState(db.pool);
  });
  afterEach(async () => {
    expect(await refusedState(db.pool)).toEqual(before);
  });

  test.each<[object, string]>([
    [{ digest: '' }, `digest: ${PERIOD}`],
    [{ digest: 'weekly' }, `digest: ${PERIOD}`],
    [{ digest: 'Hourly' }, `digest: ${PERIOD}`],
    [{ digest: ' hourly' }, `digest: ${PERIOD}`],
    [{ digest: true }, `digest: ${PERIOD}`],
    [{ digest: false }, `digest: ${PERIOD}`],
    [{ digest: 60 }, `digest: ${PERIOD}`],
    [{ digest: ['hourly'] }, `digest: ${PERIOD}`],
    [{ digest: { interval: 'hourly' } }, `digest: ${PERIOD}`],
    [{ spike_webhook: 'true' }, 'spike_webhook: must be true or false'],
    [{ spike_webhook: 1 }, 'spike_webhook: must be true or false'],
    [{ spike_webhook: 'https://receiver.example/spikes' }, 'spike_webhook: must be true or false'],
    [{ spike_webhook: [true] }, 'spike_webhook: must be true or false'],
    [{ spike_webhook: {} }, 'spike_webhook: must be true or false'],
    [{ spikeWebhook: true }, 'spikeWebhook: is not known here'],
    [{ digest_at: 'noon' }, 'digest_at: is not known here'],
  ])('%j', async (body, message) => {
    expectRefusal(await create({ webhook_url: URL, ...body }), message);
    expectRefusal(await patch(hooked, body), message);
  });

  test('each wrong option is named', async () => {
    const wrong = { digest: 'weekly', spike_webhook: 'yes' };
    const reply = await patch(hooked, wrong);
    expect(errorEnvelope.parse(reply.body).error.message.split('; ').toSorted()).toEqual([
      `digest: ${PERIOD}`,
      'spike_webhook: must be true or false',
    ]);
  });

  test.each<object>([{ spike_webhook: true }, { spike_webhook: true, digest: 'hourly' }])(
    'spikes without a webhook: %j',
    async (body) => {
      expectRefusal(await create(body), `spike_webhook: ${NEEDS_URL}`);
      expectRefusal(await patch(plain, body), `spike_webhook: ${NEEDS_URL}`);
    },
  );

  test.each([null, ''])('spikes together with the removal of the webhook (%j)', async (url) => {
    expectRefusal(await patch(hooked, { spike_webhook: true, webhook_url: url }), `spike_webhook: ${NEEDS_URL}`);
  });
});

test('null and false switch the options off, and mean nothing at creation', async () => {
  for (const off of [{ digest: null, spike_webhook: null }, { spike_webhook: false }]) {
    const { body } = await create(off);
    expect(body.monitor).not.toHaveProperty('digest');
    expect(body.monitor).not.toHaveProperty('spike_webhook');
  }
  const { id } = await api.monitor(owner.apiKey, { webhook_url: URL, digest: 'hourly', spike_webhook: true });
  expect((await patch(id, { digest: 'daily' })).body.monitor).toMatchObject({ digest: 'daily', spike_webhook: true });
  const { monitor } = (await patch(id, { digest: null, spike_webhook: false })).body;
  expect(monitor).not.toHaveProperty('digest');
  expect(monitor).not.toHaveProperty('spike_webhook');
});

test('without its webhook a monitor keeps its digest, which is mailed, and loses its spikes', async () => {
  const { id } = await api.monitor(owner.apiKey, { webhook_url: URL, digest: 'hourly', spike_webhook: true });
  const { monitor } = (await patch(id, { webhook_url: null })).body;
  expect(monitor).toMatchObject({ webhook_url: null, digest: 'hourly' });
  expect(monitor).not.toHaveProperty('spike_webhook');
  expect((await patch(id, { webhook_url: URL })).body.monitor).not.toHaveProperty('spike_webhook');
  expect((await patch(id, { webhook_url: URL, spike_webhook: true })).body.monitor).toMatchObject({
    spike_webhook: true,
  });
});

test('a digest needs a webhook where no mail can be sent to the address of the account', async () => {
  expectRefusal(await create({ digest: 'daily' }, unreachable), `digest: ${NO_ADDRESS}`);
  const { rows } = await db.pool.query('SELECT balance FROM accounts WHERE id = $1', [unreachable.accountId]);
  expect(rows).toEqual([{ balance: 1_000 }]);
  const created = await create({ digest: 'daily', webhook_url: URL }, unreachable);
  const { id } = created.body.monitor as { id: string };
  expectRefusal(await patch(id, { webhook_url: null }, unreachable), `digest: ${NO_ADDRESS}`);
  expect((await patch(id, { webhook_url: null, digest: null }, unreachable)).status).toBe(200);
  expectRefusal(await patch(id, { digest: 'hourly' }, unreachable), `digest: ${NO_ADDRESS}`);
  expect((await patch(id, { name: 'still without one' }, unreachable)).status).toBe(200);
});
