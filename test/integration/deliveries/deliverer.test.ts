import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { webhookEvent } from '../../../schemas/messages/webhook-event.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { createSecretBox } from '../../../shared/domain/secret-box.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

let bench: DeliveryBench;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(async () => {
  await bench.reset();
});
afterAll(async () => {
  await bench.db.drop();
});

const deliveryIds = (received: { headers: Record<string, unknown> }[]) =>
  received.map(({ headers }) => headers['x-service-delivery']);

async function attemptsOf(monitorId: string) {
  const { rows } = await bench.db.pool.query<Record<string, unknown>>(
    `SELECT attempt, status, error, host, response_excerpt, delivery_status, published_at IS NOT NULL AS is_published
     FROM delivery_attempts WHERE monitor_id = $1 ORDER BY seq, attempt`,
    [monitorId],
  );
  return rows;
}

async function healthOf(monitorId: string) {
  const { rows } = await bench.db.pool.query<{ failures: number; webhook_failing: boolean }>(
    'SELECT failures, webhook_failing FROM monitor_health WHERE monitor_id = $1',
    [monitorId],
  );
  return rows[0];
}

test('delivers a hinted match at once, once, signed in both schemes, and publishes the attempt', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(200).end('thanks'));
  const { id, secret } = await bench.addMonitor(receiver.url);
  // Due for the poller only in an hour, so what arrives was sent because of the hint.
  await bench.addMatches(id, 2, '1 hour');
  await bench.startDeliverer();
  await bench.publishHints(id, [1, 2, 1]);
  expect(await bench.settled(id)).toEqual(['delivered', 'delivered']);
  await wait(300);

  expect(deliveryIds(receiver.received)).toEqual([matchId(id, 1), matchId(id, 2)]);
  const { headers, body } = receiver.received[0]!;
  const signature = headers['x-service-signature'] as string;
  expect(() => new Stripe('unused').webhooks.constructEvent(body, signature, secret, 300)).not.toThrow();
  expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
  expect(headers).toMatchObject({ 'user-agent': 'service-webhooks/1', 'content-type': 'application/json' });
  const event = webhookEvent.parse(JSON.parse(body.toString()));
  expect(event.monitor).toEqual({ id, name: 'metals' });
  expect(event.match).toMatchObject({
    id: matchId(id, 1),
    monitor_id: id,
    thing_id: 't3_1',
    body: 'Iron and naïve 水 make rust.',
    matched_terms: ['rust'],
    delivery_status: 'pending',
    delivered_at: null,
  });

  const delivered = { attempt: 1, ladder_step: 1, due_in: null, is_leased: false, is_delivered: true };
  expect(await bench.states(id)).toMatchObject([delivered, delivered]);
  const published = async () => (await attemptsOf(id)).every(({ is_published }) => is_published);
  await eventually('the attempts are published', published);
  expect(await attemptsOf(id)).toMatchObject([
    { attempt: 1, status: 200, error: null, host: new URL(receiver.url).host, response_excerpt: 'thanks' },
    { attempt: 1, delivery_status: 'delivered' },
  ]);
  expect(await healthOf(id)).toBeUndefined();
  const latency = await bench.metrics.deliveryLatency.get();
  const counts = latency.values.filter(({ metricName }) => metricName?.endsWith('_count'));
  expect(counts.map(({ labels, value }) => [labels.since, value])).toEqual([
    ['created', 2],
    ['seen', 2],
    ['entered', 2],
  ]);
});

test('refuses private addresses unless they are allowed, also when a name resolves to one (DNS rebinding)', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  const port = new URL(receiver.url).port;
  const urls = [`https://127.0.0.1:${port}/`, `https://receiver.example:${port}/`, receiver.url];
  const monitors = await Promise.all(urls.map((url) => bench.addMonitor(url)));
  for (const { id } of monitors) await bench.addMatches(id, 1);
  await bench.startDeliverer({ allowPrivate: false, lookup: async () => ['127.0.0.1'] });
  for (const { id } of monitors) {
    expect(await bench.settled(id)).toEqual(['failed']);
    expect(await attemptsOf(id)).toMatchObject([{ status: 0, error: 'blocked_address' }]);
  }
  expect(receiver.received).toHaveLength(0);
});

test('keeps matches pending and sends nothing when the secrets cannot be decrypted', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  const { id } = await bench.addMonitor(`${receiver.url}/sealed`);
  await bench.addMatches(id, 1);
  await bench.startDeliverer({ secretBox: createSecretBox('another key, after somebody changed SECRET_KEY') });
  await bench.firstState(id, ({ attempt, delivery_status }) => attempt === 1 && delivery_status === 'pending');
  expect(await attemptsOf(id)).toMatchObject([{ error: 'secret_unreadable' }]);
  // Another test's deliverer may still ask a port that was closed and is this receiver's now.
  expect(receiver.received.filter(({ path }) => path.endsWith('/sealed'))).toHaveLength(0);
});
