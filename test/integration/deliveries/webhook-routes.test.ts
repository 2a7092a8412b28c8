import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { webhookEvent } from '../../../schemas/messages/monitor-event.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';

let db: TestDatabase;
let api: TestApi;
let receiver: WebhookReceiver;
let answer = 204;
let owner: TestAccount;
const stripe = new Stripe('sk_test_unused');

beforeAll(async () => {
  db = await createTestDatabase();
  receiver = await startWebhookReceiver(() => answer);
  const lookup = (name: string) =>
    name.endsWith('.invalid') ? Promise.reject(new Error('no such name')) : Promise.resolve(['127.0.0.1']);
  api = await startTestApi(db.pool, { allowPrivate: true, lookup });
});

afterAll(async () => {
  await api.stop();
  await receiver.stop();
  await db.drop();
});

beforeEach(async () => {
  answer = 204;
  receiver.received.length = 0;
  owner = await api.account();
});

async function created(body: object): Promise<{ id: string; secret: string }> {
  const reply = await api.call(owner.apiKey, 'POST', '/v1/monitors', {
    name: 'mine',
    keywords: ['rust', 'go'],
    ...body,
  });
  return { id: (reply.body.monitor as { id: string }).id, secret: reply.body.webhook_secret as string };
}

const post = (id: string, what: 'test' | 'rotate-secret') =>
  api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/${what}`);

describe('a test delivery', () => {
  test('sends a signed webhook that is marked as a test, costs nothing and creates no match', async () => {
    const { id, secret } = await created({ webhook_url: receiver.url });
    const reply = await post(id, 'test');
    expect([reply.status, reply.body]).toEqual([200, { delivered: true, status: 204, error: null }]);
    expect(reply.headers.get('x-credits-remaining')).toBe('990');
    expect(receiver.received).toHaveLength(1);
    const { headers, body } = receiver.received[0]!;
    const event = webhookEvent.parse(JSON.parse(body));
    expect(event).toMatchObject({ monitor: { id, name: 'mine' }, match: { monitor_id: id, matched_terms: ['rust'] } });
    expect(event.match.id).toMatch(/^test_/);
    expect(headers).toMatchObject({ 'x-service-test': '1', 'x-service-delivery': event.match.id });
    stripe.webhooks.constructEvent(body, headers['x-service-signature'] as string, secret, 300);
    new Webhook(secret).verify(body, headers as Record<string, string>);
    expect((await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/matches`)).body.items).toEqual([]);
  });

  test.each(['slack', 'discord'] as const)('sends a message of the kind of a %s webhook', async (webhook_kind) => {
    const { id } = await created({ webhook_url: receiver.url, webhook_kind });
    expect((await post(id, 'test')).body).toMatchObject({ delivered: true });
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    expect(headers['x-service-test']).toBe('1');
    expect(body).toContain('rust');
    expect(JSON.parse(body)).not.toHaveProperty('type');
  });

  const here = () => Promise.resolve(receiver.url);
  test.each([
    [500, 'http_status', here],
    [0, 'connect', async () => `http://127.0.0.1:${await freePort()}/`],
    [0, 'dns', () => Promise.resolve('http://nowhere.invalid/')],
  ])('reports the status %i and the error %s', async (status, error, url) => {
    answer = status;
    const { id } = await created({ webhook_url: await url() });
    expect((await post(id, 'test')).body).toEqual({ delivered: false, status, error });
  });

  test('is blocked when the address has become private', async () => {
    const { id } = await created({ webhook_url: receiver.url });
    const strict = await startTestApi(db.pool);
    const reply = await strict.call(owner.apiKey, 'POST', `/v1/monitors/${id}/test`);
    await strict.stop();
    expect(reply.body).toEqual({ delivered: false, status: 0, error: 'blocked_address' });
    expect(receiver.received).toEqual([]);
  });

  test('is limited to five per minute and account, over all monitors and processes', async () => {
    await db.freeze();
    const [one, two] = [await created({ webhook_url: receiver.url }), await created({ webhook_url: receiver.url })];
    const replies = await Promise.all(Array.from({ length: 12 }, (_, at) => post((at % 2 ? one : two).id, 'test')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
    expect(receiver.received).toHaveLength(5);
    const refused = replies.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(7);
    expect(refused[0]!.body.error).toMatchObject({ code: 'rate_limited', retryable: true, retry_after: 60 });
    await db.freeze('59 seconds');
    expect((await post(one.id, 'test')).status).toBe(429);
    await db.freeze('1 second');
    expect((await post(one.id, 'test')).status).toBe(200);
    await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  });
});

describe('a new secret', () => {
  test('signs at once, and the previous secret also signs, in headers of its own, for 24 hours', async () => {
    const { id, secret: before } = await created({ webhook_url: receiver.url });
    const rotated = await post(id, 'rotate-secret');
    const secret = rotated.body.webhook_secret as string;
    expect([rotated.status, secret === before, rotated.headers.get('x-credits-remaining')]).toEqual([
      200,
      false,
      '990',
    ]);
    await post(id, 'test');
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    const main = headers['x-service-signature'] as string;
    stripe.webhooks.constructEvent(body, main, secret, 300);
    expect(() => stripe.webhooks.constructEvent(body, main, before, 300)).toThrow(/signature/i);
    const other = headers['x-service-signature-previous'] as string;
    stripe.webhooks.constructEvent(body, other, before, 300);
    for (const one of [secret, before]) new Webhook(one).verify(body, headers as Record<string, string>);
    await db.setShift('24 hours');
    await post(id, 'test');
    await db.setShift('0');
    const later = receiver.received[1]!;
    new Webhook(secret).verify(later.body, later.headers as Record<string, string>);
    expect(() => new Webhook(before).verify(later.body, later.headers as Record<string, string>)).toThrow();
    expect(later.headers).not.toHaveProperty('x-service-signature-previous');
  });

  test('is the same when the request is repeated with its Idempotency-Key', async () => {
    const { id, secret: first } = await created({ webhook_url: receiver.url });
    const rotate = () =>
      api.call(owner.apiKey, 'POST', `/v1/monitors/${id}/rotate-secret`, undefined, { 'idempotency-key': 'one' });
    const rotated = await rotate();
    const repeated = await rotate();
    expect([repeated.body, repeated.headers.get('idempotency-replayed')]).toEqual([rotated.body, 'true']);
    await post(id, 'test');
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    const secrets = [rotated.body.webhook_secret as string, first];
    for (const secret of secrets) new Webhook(secret).verify(body, headers as Record<string, string>);
  });

  test('after two concurrent rotations one secret is current and the other one is previous', async () => {
    const { id, secret: first } = await created({ webhook_url: receiver.url });
    const rotated = await Promise.all([post(id, 'rotate-secret'), post(id, 'rotate-secret')]);
    await post(id, 'test');
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    const signed = (header: string, secret: string) => {
      try {
        return Boolean(stripe.webhooks.constructEvent(body, headers[header] as string, secret, 300));
      } catch {
        return false;
      }
    };
    const roles = [...rotated.map((reply) => reply.body.webhook_secret as string), first].map((secret) =>
      ['x-service-signature', 'x-service-signature-previous'].map((header) => signed(header, secret)).join(),
    );
    expect(roles.slice(0, 2).toSorted()).toEqual(['false,true', 'true,false']);
    expect(roles[2]).toBe('false,false');
  });
});
