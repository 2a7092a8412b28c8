import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { DeliveryLogEntry } from '../../../schemas/api/deliveries.ts';
import type { DeliveryAttempt } from '../../../schemas/messages/monitor-match.ts';
import { MONITOR_DELIVERIES } from '../../../schemas/messages/topics.ts';
import { webhookEvent } from '../../../schemas/messages/monitor-event.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { MAX_RETRY_AFTER_MS } from '../../../shared/deliveries/rules/delivery-outcome.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { blankMatchedItems } from '../../../shared/crawl/crawl-cursors.ts';
import { startScriptedEndpoint } from '../../support/fakes/scripted-endpoint.ts';
import type { EndpointRequest, ScriptedEndpoint } from '../../support/fakes/scripted-endpoint.ts';
import { DeliveryBench } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { DELIVERY_SCENARIOS, FIRST } from './scenarios.cases.ts';
import type { Answer, DeliveryScenario } from './scenarios.cases.ts';

/** Long enough for every endpoint that answers; the one that never does takes so long. */
const DEADLINE_MS = 2_500;
/** The middle of the 10 % that may be added. */
const MIDDLE = 0.5;

interface ScenarioDelivery extends DeliveryScenario {
  /** Of its monitor, which has this one match. */
  id: string;
  /** That its receiver knows at first. */
  secret: string;
  /** What the owner's request between the attempts answered. */
  answered: Record<string, unknown>;
}

interface StoredAttempt extends Omit<DeliveryLogEntry, 'match_id' | 'started_at' | 'next_attempt_at'> {
  monitor_id: string;
  started_at: Date;
  next_attempt_at: Date | null;
}

let bench: DeliveryBench;
let api: TestApi;
let owner: TestAccount;
/** Answers each row's requests by its script. */
let scripted: ScriptedEndpoint;
/** Answers 204. */
let other: ScriptedEndpoint;
let begun: Date;
const runs = new Map<string, ScenarioDelivery>();
/** As they are stored, the first one first. */
let attempts: StoredAttempt[];
/** As they came on monitor.deliveries. */
const published: DeliveryAttempt[] = [];

const of = (name: string) => runs.get(name)!;
const attemptsOf = (name: string) => attempts.filter(({ monitor_id }) => monitor_id === of(name).id);
const publishedOf = (name: string) => published.filter(({ monitor_id }) => monitor_id === of(name).id);
const allReceived = () => [...scripted.received, ...other.received];
/** What came under the id of the row's match: chat messages have none, and tests sent by its owner another. */
const receivedOf = (name: string) =>
  allReceived().filter(({ headers }) => headers['x-service-delivery'] === matchId(of(name).id, 1));
/** What its endpoints received, except tests sent by its owner. */
function requestsOf(name: string): EndpointRequest[] {
  const own = [String(DELIVERY_SCENARIOS.findIndex((scenario) => scenario.name === name)), of(name).id];
  return allReceived().filter(
    ({ path, headers }) => own.includes(path.split(/[/?]/)[1]!) && headers['x-service-test'] === undefined,
  );
}

/** Runs all scenarios side by side with one deliverer, from the first attempt to the last. */
beforeAll(async () => {
  bench = await DeliveryBench.create();
  api = await startTestApi(bench.db.pool, { allowPrivate: true, lookup });
  owner = await api.account({ credits: 10_000 });
  // HTTP dates name whole seconds.
  const now = Math.floor(Date.now() / 1_000) * 1_000;
  scripted = await startScriptedEndpoint(scriptedAnswers(), () => now);
  other = await startScriptedEndpoint(() => 204);
  await bench.db.freeze();
  begun = (await bench.db.pool.query<{ now: Date }>('SELECT service_now() AS now')).rows[0]!.now;
  await Promise.all(DELIVERY_SCENARIOS.map((scenario, index) => prepare(index, scenario)));
  // The process's own clock passes the longest hold of a URL whenever the database's clock moves on.
  let passedMs = 0;
  const monotonic = () => performance.now() + passedMs;
  const timing = { clock: () => now, monotonic, random: () => MIDDLE, deadlineMs: DEADLINE_MS };
  await bench.startDeliverer({ secretBox: api.secretBox, lookup, ...timing });
  await passDeliveryTime(async (moves) => {
    passedMs += MAX_RETRY_AFTER_MS;
    if (moves > 0) return;
    for (const scenario of runs.values()) scenario.answered = await intervene(scenario);
  });
  const { rows } = await bench.db.pool.query<StoredAttempt>(
    `SELECT monitor_id, attempt, started_at, duration_ms, webhook_kind, host, status, error, response_excerpt,
       delivery_status, next_attempt_at
     FROM delivery_attempts ORDER BY monitor_id, seq, attempt`,
  );
  attempts = rows;
  await readPublished();
});
afterAll(async () => {
  await bench.reset();
  for (const part of [scripted, other, api]) await part.stop();
  await bench.db.drop();
});

test.each(DELIVERY_SCENARIOS)('$name', async ({ name, attempts, waits, ends }) => {
  const { id, endpoint } = of(name);
  // Each attempt was made exactly when it was due, with the expected outcome.
  const made = attemptsOf(name);
  expect(made.map(({ status, error }) => [status, error])).toEqual(attempts);
  expect(made.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1));
  let due = begun.getTime();
  for (const [index, { started_at, duration_ms, next_attempt_at, delivery_status }] of made.entries()) {
    // The clock is frozen during an attempt, so its end equals the time at which it was due.
    const ended = started_at.getTime() + duration_ms;
    expect(ended).toBe(due);
    const wait = waits[index] ?? (index === made.length - 1 && ends === 'skipped' ? FIRST : undefined);
    expect(next_attempt_at?.getTime()).toBe(wait === undefined ? undefined : ended + wait * 1_000);
    expect(delivery_status).toBe(wait === undefined ? ends : 'pending');
    due = next_attempt_at?.getTime() ?? 0;
  }

  // The match is in the expected state, and a failure counts once for the endpoint.
  const state = { delivery_status: ends, attempt: attempts.length, is_leased: false };
  expect(await bench.states(id)).toMatchObject([{ ...state, is_delivered: ends === 'delivered' }]);
  const { rows } = await bench.db.pool.query<{ failures: number; webhook_failing: boolean }>(
    'SELECT failures, webhook_failing FROM monitor_health WHERE monitor_id = $1',
    [id],
  );
  expect(rows[0]?.failures ?? 0).toBe(ends === 'failed' ? 1 : 0);
  expect(rows[0]?.webhook_failing ?? false).toBe(false);

  // The delivery log and monitor.deliveries have the same attempts, each once.
  const told = made.map(({ monitor_id: _, started_at, next_attempt_at, ...rest }) => ({
    ...rest,
    match_id: matchId(id, 1),
    started_at: started_at.toISOString(),
    next_attempt_at: next_attempt_at?.toISOString() ?? null,
  }));
  const reply = await api.call(owner.apiKey, 'GET', `/v1/monitors/${id}/deliveries`);
  if (name === 'the monitor is deleted') expect(reply.status).toBe(404);
  else expect(reply.body).toEqual({ items: told.toReversed(), after: null });
  expect(publishedOf(name).toSorted((a, b) => a.attempt - b.attempt)).toEqual(
    told.map(({ response_excerpt: _, ...rest }) => ({ v: 1, monitor_id: id, seq: 1, ...rest })),
  );
  for (const { response_excerpt } of told) expect((response_excerpt ?? '').length).toBeLessThanOrEqual(500);

  // The endpoint received each attempt once, and every generic one with the same id.
  const seen = requestsOf(name);
  expect(seen).toHaveLength(endpoint === undefined ? attempts.length : 0);
  const generic = seen.filter(({ body }) => 'match' in (JSON.parse(body.toString()) as object));
  for (const { headers } of generic) expect(headers['x-service-delivery']).toBe(matchId(id, 1));
  expect(receivedOf(name)).toHaveLength(generic.length);
});

describe('an attempt uses the present state of its monitor', () => {
  const paths = (name: string) => receivedOf(name).map(({ path }) => path);

  test('the URL', () => {
    const name = 'the URL is changed';
    const index = DELIVERY_SCENARIOS.findIndex((scenario) => scenario.name === name);
    expect(paths(name)).toEqual([`/${index}`, `/${of(name).id}`]);
  });

  test('the secret, and the previous secret signs as well', () => {
    const { secret: before, answered } = of('the secret is rotated');
    const [first, second] = receivedOf('the secret is rotated') as [EndpointRequest, EndpointRequest];
    const signs = (secret: string, { headers, body }: EndpointRequest, name = 'x-service-signature') =>
      new Stripe('unused').webhooks.constructEvent(body, headers[name] as string, secret, 300);
    signs(before, first);
    signs(answered.webhook_secret as string, second);
    signs(before, second, 'x-service-signature-previous');
    expect(first.headers).not.toHaveProperty('x-service-signature-previous');
  });

  test('the kind', () => {
    const name = 'the kind is changed';
    expect(attemptsOf(name).map(({ webhook_kind }) => webhook_kind)).toEqual(['generic', 'slack']);
    const index = DELIVERY_SCENARIOS.findIndex((scenario) => scenario.name === name);
    const bodies = scripted.received
      .filter(({ path }) => path === `/${index}`)
      .map(({ body }) => JSON.parse(String(body)) as object);
    expect(bodies).toEqual([
      expect.objectContaining({ type: 'monitor.match' }),
      expect.objectContaining({ blocks: expect.anything() as object }),
    ]);
  });

  test('the name, but the terms that were matched', () => {
    const [first, second] = receivedOf('the name and the rule are changed').map(({ body }) =>
      webhookEvent.parse(JSON.parse(String(body))),
    );
    expect([first!.monitor.name, second!.monitor.name]).toEqual(['metals', 'alloys']);
    expect(second!.match).toEqual(first!.match);
    expect(second!.match.matched_terms).toEqual(['rust']);
  });

  test('the content, which is blank after the forum removed the thing', () => {
    const [first, second] = receivedOf('the thing is removed').map(
      ({ body }) => webhookEvent.parse(JSON.parse(String(body))).match,
    );
    expect(first).toMatchObject({ author: 'smith', title: 'On rust' });
    expect(second).toEqual({ ...first, author: '[deleted]', title: '', body: '' });
  });
});

async function endpointOf(index: number, { endpoint }: DeliveryScenario): Promise<string> {
  if (endpoint === 'port that nobody listens on') return `http://127.0.0.1:${await freePort()}/`;
  if (endpoint === 'name that does not resolve') return 'http://receiver.invalid/';
  const url = `${scripted.url}/${index}`;
  return endpoint === 'https on a port that speaks http' ? url.replace('http:', 'https:') : url;
}

async function prepare(index: number, scenario: DeliveryScenario): Promise<void> {
  const reply = await api.call(owner.apiKey, 'POST', '/v1/monitors', {
    name: 'metals',
    keywords: ['rust'],
    webhook_url: await endpointOf(index, scenario),
    ...(scenario.kind ? { webhook_kind: scenario.kind } : {}),
  });
  expect(reply.status).toBe(201);
  const { id } = reply.body.monitor as { id: string };
  await bench.addMatches(id, 1);
  // A thing of its own, so that its removal is seen by no other match.
  await bench.db.pool.query(
    `INSERT INTO matched_items SELECT (jsonb_populate_record(i, jsonb_build_object('thing_id', 't3_of' || $1::text))).*
   FROM matched_items i WHERE thing_id = 't3_1'`,
    [String(index)],
  );
  await bench.db.pool.query(`UPDATE matches SET thing_id = 't3_of' || $2::text WHERE monitor_id = $1`, [
    id,
    String(index),
  ]);
  runs.set(scenario.name, { ...scenario, id, secret: reply.body.webhook_secret as string, answered: {} });
}

async function intervene({ id, meanwhile }: ScenarioDelivery): Promise<Record<string, unknown>> {
  if (meanwhile === undefined) return {};
  if (typeof meanwhile === 'string') {
    const { rows } = await bench.db.pool.query<{ thing_id: string }>(
      'SELECT thing_id FROM matches WHERE monitor_id = $1',
      [id],
    );
    await blankMatchedItems(bench.db.pool, [rows[0]!.thing_id]);
    return {};
  }
  const { method, path = '', body } = meanwhile;
  const filled = body?.webhook_url === '<other receiver>' ? { webhook_url: `${other.url}/${id}` } : body;
  const reply = await api.call(owner.apiKey, method, `/v1/monitors/${id}${path}`, filled);
  expect(reply.status).toBe(200);
  return reply.body;
}

/** Everything on monitor.deliveries, once as much has come as was stored. */
async function readPublished(): Promise<void> {
  const brokers = inject('kafkaBrokers').replace('kafka://', '').split(',');
  const consumer = await startBatchConsumer({
    kafka: createKafka({ brokers, clientId: 'test', logger: silentLogger() }),
    prefix: bench.prefix,
    group: 'reads-deliveries',
    topics: [MONITOR_DELIVERIES.name],
    metrics: createMetrics(),
    logger: silentLogger(),
    fatal: (error) => bench.fatal.push(error),
    handle: (batch) => {
      for (const { value, key } of batch.records) {
        const attempt = MONITOR_DELIVERIES.schema.parse(JSON.parse(value.toString()));
        expect(key).toBe(attempt.monitor_id);
        published.push(attempt);
      }
      return Promise.resolve({});
    },
  });
  await eventually('all attempts are on monitor.deliveries', () => published.length >= attempts.length);
  await consumer.stop();
}

function lookup(name: string): Promise<string[]> {
  return name.endsWith('.invalid') ? Promise.reject(new Error('no such name')) : Promise.resolve(['127.0.0.1']);
}

/** The first segment of a path is the number of a row; each request takes the row's next answer. */
function scriptedAnswers(): (request: EndpointRequest) => Answer {
  const answered = new Map<string, number>();
  return ({ path }) => {
    const row = path.split(/[/?]/)[1]!;
    const { answers } = DELIVERY_SCENARIOS[Number(row)]!;
    const count = answered.get(row) ?? 0;
    answered.set(row, count + 1);
    return answers[Math.min(count, answers.length - 1)]!;
  };
}

/**
 * Runs all pending deliveries to their end, from one due time to the next: when everything that is
 * due has been attempted, the frozen clock advances exactly to the next attempt. An attempt that ends at another time
 * than its due time was therefore too early or too late.
 *
 * @param afterStep called whenever nothing is due any more, before the clock advances, with the number of advances so
 * far
 */
async function passDeliveryTime(afterStep: (moves: number) => Promise<void>): Promise<void> {
  for (let moves = 0; ; moves++) {
    await eventually('all that is due has been attempted', async () => {
      const { rows } = await bench.db.pool.query<{ due: number }>(
        `SELECT count(*)::int AS due FROM matches
         WHERE delivery_status = 'pending' AND next_attempt_at <= (SELECT service_now())`,
      );
      return rows[0]!.due === 0;
    });
    await afterStep(moves);
    const { rowCount } = await bench.db.pool.query(
      `UPDATE service_clock SET frozen_at = next.at
       FROM (SELECT min(next_attempt_at) AS at FROM matches WHERE delivery_status = 'pending') AS next
       WHERE next.at IS NOT NULL`,
    );
    if (rowCount === 0) return;
  }
}
