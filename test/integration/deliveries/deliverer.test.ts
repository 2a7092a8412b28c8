import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { webhookEvent } from '../../../schemas/messages/monitor-event.ts';
import { recordOutcomes } from '../../../shared/deliveries/delivery-outcomes.ts';
import { claimDueMatches, readDueMonitors } from '../../../shared/deliveries/pending-deliveries.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { answerAsDiscord } from '../../support/fakes/strict-discord.ts';
import { answerAsSlack } from '../../support/fakes/strict-slack.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { HOSTILE_TEXTS } from '../../support/samples/chat-matches.ts';

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

test('a start that fails leaves nothing at work, which nobody would stop', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(200).end());
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 1, '-1 second');
  await expect(bench.startDeliverer({ prefix: 'without-topics.' })).rejects.toThrow();
  await wait(1_500);
  expect(receiver.received).toEqual([]);
});

test('delivers a hinted match at once, once, signed in both schemes, and publishes the attempt', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(200).end('thanks'));
  const { id, secret } = await bench.addMonitor(receiver.url);
  // Due for the poller only in an hour, so what arrives was sent because of the wake-up.
  await bench.addMatches(id, 2, '1 hour');
  await bench.startDeliverer();
  await bench.publishWakeUps(id, [1, 2, 1]);
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

/** A chat product on loopback that is as strict as documented. */
async function startChat(kind: 'slack' | 'discord') {
  const paths = new Set<string>();
  const problems: string[] = [];
  let taken = 0;
  const receiver = await bench.startReceiver(({ body, path, headers }, response) => {
    paths.add(path);
    if (headers['content-type'] !== 'application/json') problems.push(`content type ${headers['content-type']}`);
    const answer = kind === 'slack' ? answerAsSlack(body.toString()) : answerAsDiscord(path, body.toString());
    if ('problem' in answer) problems.push(answer.problem);
    else taken += 1;
    response.writeHead(answer.status).end(answer.body);
  });
  return { origin: new URL(receiver.url).origin, paths, problems, taken: () => taken };
}

test.each([
  ['slack', '/services/T1/B1/token', '/services/T1/B1/token'],
  ['discord', '/api/webhooks/1/token?thread_id=7', '/api/webhooks/1/token?thread_id=7&wait=true'],
] as const)('%s takes messages with hostile texts', async (kind, path, requested) => {
  const chat = await startChat(kind);
  const texts = HOSTILE_TEXTS.map((text) => text.toWellFormed().replaceAll('\0', ''));
  const { id } = await bench.addMonitor(chat.origin + path, kind);
  // Every field of a match is one of the texts.
  await bench.addMatches(id, texts.length, '0 s', 1_001);
  await bench.db.pool.query(
    `UPDATE matched_items SET title = texts.text, author = texts.text, subreddit = texts.text,
       body = texts.text || ' rust ' || texts.text
     FROM unnest($1::text[]) WITH ORDINALITY AS texts (text, seq)
     WHERE thing_id = 't3_' || (texts.seq + 1000)`,
    [texts],
  );
  await bench.db.pool.query(`UPDATE monitors SET name = '<!channel> @everyone' WHERE id = $1`, [id]);
  await bench.startDeliverer();
  expect(new Set(await bench.settled(id))).toEqual(new Set(['delivered']));
  expect([chat.problems, chat.taken(), [...chat.paths]]).toEqual([[], texts.length, [requested]]);
});

test('never has two attempts of one match in flight, with two deliverers on a slow endpoint', async () => {
  const inFlight = new Map<string, number>();
  let maxInFlight = 0;
  let overlaps = 0;
  const receiver = await bench.startReceiver(({ headers }, response) => {
    const match = String(headers['x-service-delivery']);
    inFlight.set(match, (inFlight.get(match) ?? 0) + 1);
    if (inFlight.get(match)! > 1) overlaps++;
    maxInFlight = Math.max(maxInFlight, [...inFlight.values()].filter((count) => count > 0).length);
    setTimeout(() => {
      inFlight.set(match, inFlight.get(match)! - 1);
      response.writeHead(204).end();
    }, 60);
  });
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 100);
  await Promise.all([bench.startDeliverer(), bench.startDeliverer()]);
  await bench.publishWakeUps(
    id,
    Array.from({ length: 100 }, (_, i) => i + 1),
  );
  await bench.settled(id);
  expect(overlaps).toBe(0);
  expect(receiver.received).toHaveLength(100);
  expect(new Set(deliveryIds(receiver.received)).size).toBe(100);
  // Four per process.
  expect(maxInFlight).toBeGreaterThan(2);
  expect(maxInFlight).toBeLessThanOrEqual(8);
});

test('claims the matches of a killed deliverer when their leases have ended, and ignores its late outcomes', async () => {
  const receiver = await bench.startReceiver((_, response) => response.writeHead(204).end());
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 1);
  const leaseToken = randomUUID();
  const lease = { token: leaseToken, lengthMs: 20_000 };
  await bench.db.freeze();
  expect(await claimDueMatches(bench.db.pool, [{ monitorId: id, limit: 4 }], lease)).toHaveLength(1);
  await bench.startDeliverer();
  await bench.publishWakeUps(id, [1]);
  await wait(1_500);
  expect(receiver.received).toHaveLength(0);

  await bench.db.freeze('21 seconds');
  expect(await bench.settled(id)).toEqual(['delivered']);
  const late = {
    monitorId: id,
    seq: 1,
    leaseToken,
    webhookKind: 'generic' as const,
    isResent: false,
    webhookUrl: receiver.url,
    host: 'late.example',
    durationMs: 9_000,
    httpStatus: 404,
    error: 'http_status',
    responseExcerpt: null,
    deliveryStatus: 'failed' as const,
    delayMs: null,
  };
  expect(await recordOutcomes(bench.db.pool, [late])).toEqual([undefined]);
  expect(await bench.settled(id)).toEqual(['delivered']);
  expect(await healthOf(id)).toBeUndefined();
  expect(await attemptsOf(id)).toHaveLength(1);
});

test('what a deliverer claimed before it was killed, while the clock was ahead, is claimed a whole lease later', async () => {
  const { pool } = bench.db;
  const { id } = await bench.addMonitor('https://receiver.example/');
  await bench.addMatches(id, 1);
  const isDue = async () => (await readDueMonitors(pool, '', 100)).due.some(({ monitorId }) => monitorId === id);
  const claim = () => claimDueMatches(pool, [{ monitorId: id, limit: 4 }], { token: randomUUID(), lengthMs: 20_000 });
  await bench.db.setShift('1 hour');
  expect(await claim()).toHaveLength(1);
  expect(await isDue()).toBe(false);
  await bench.db.setShift('0');
  expect(await isDue()).toBe(true);
  // The attempt may be under way: its lease lasts.
  expect(await claim()).toEqual([]);
  expect(await isDue()).toBe(false);
  await bench.db.setShift('21 seconds');
  expect(await isDue()).toBe(true);
  expect(await claim()).toHaveLength(1);
});

test('on stop ends the attempts in flight and releases the other matches for the next deliverer at once', async () => {
  let answerAll = () => undefined as unknown;
  const answering = new Promise((resolve) => (answerAll = () => resolve(undefined)));
  const receiver = await bench.startReceiver((_, response) => {
    void answering.then(() => response.writeHead(204).end());
  });
  const { id } = await bench.addMonitor(receiver.url);
  await bench.addMatches(id, 8);
  const deliverer = await bench.startDeliverer();
  await eventually('four attempts are in flight', () => receiver.received.length === 4);
  const stopping = deliverer.stop();
  await wait(200);
  answerAll();
  await stopping;
  const states = await bench.states(id);
  expect(states.map((state) => state.delivery_status)).toEqual([
    ...Array<string>(4).fill('delivered'),
    ...Array<string>(4).fill('pending'),
  ]);
  expect(states.some((state) => state.is_leased)).toBe(false);
  expect(receiver.received).toHaveLength(4);
});

test('publishes attempts that a killed deliverer stored but did not publish', async () => {
  const { id } = await bench.addMonitor('https://receiver.example/');
  await bench.db.pool.query(
    `INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, seq, 1, service_now() - interval '2 minutes', 5, 'generic', 'receiver.example', 200, 'delivered'
     FROM generate_series(1, 3) AS seq`,
    [id],
  );
  await bench.startDeliverer();
  await eventually('all are published', async () => (await attemptsOf(id)).every(({ is_published }) => is_published));
  const published = await bench.metrics.kafkaPublished.get();
  expect(published.values.map(({ value }) => value)).toEqual([3]);
});
