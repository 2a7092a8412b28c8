import { createClient } from '@clickhouse/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MONITOR_CANDIDATES, MONITOR_DELIVERIES, TOPICS } from '../../../schemas/messages/topics.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { newWebhookSecret } from '../../../shared/deliveries/rules/webhook-message.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { PublishFailed } from '../../../shared/kafka/kafka-unavailable.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { RandomEndpoints } from '../../support/fakes/random-endpoints.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const SEED = 20_261_121;
const MONITORS = 100;
const THINGS = 20;
const CANDIDATES = MONITORS * THINGS;
const BATCH = 100;
/** The pause between batches. */
const PACE_MS = 200;
/** A step takes seconds on a quiet machine. */
const LIMIT_MS = 240_000;
const SECRET_KEY = 'a secret key of the tests, long enough';

const dataDir = mkdtempSync(join(tmpdir(), 'forum-test-chaos-'));
const endpoints = new RandomEndpoints(SEED);
let engines: RunningEngines;
let db: TestDatabase;
let kafka: KafkaConnection;
let monitors: string[];
const services = new Map<string, ServiceProcess>();
const service = (name: string) => services.get(name)!;

beforeAll(async () => {
  engines = await startEngines({ dataDir, env: process.env });
  db = await createTestDatabase(engines.urls.postgres);
  const brokers = engines.urls.kafka.replace('kafka://', '');
  kafka = createKafka({ brokers: [brokers], clientId: 'test', logger: silentLogger() });
  await ensureTopics(kafka, { prefix: '', embedded: true, topics: TOPICS });
  monitors = await insertMonitors(db.pool, MONITORS, { pack: 79 });
  const urls = await endpoints.start(20, MONITORS);
  const box = createSecretBox(SECRET_KEY);
  await db.pool.query(
    `UPDATE monitors m SET webhook_url = w.url, webhook_kind = 'generic', webhook_secret = w.secret
     FROM unnest($1::text[], $2::text[], $3::bytea[]) AS w (id, url, secret) WHERE m.id = w.id`,
    [monitors, urls, monitors.map((id) => box.seal(newWebhookSecret(), id))],
  );
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const env = {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    DATA_DIR: join(dataDir, 'none'),
    KAFKA_BROKERS: brokers,
    DATABASE_URL: db.url,
    CLICKHOUSE_URL: engines.urls.clickhouse,
    FORUM_EMBEDDED: 'kafka',
    SECRET_KEY,
    WEBHOOK_ALLOW_PRIVATE: '1',
    LOG_LEVEL: 'warn',
  };
  for (const name of ['archiver', 'deliverer', 'recorder']) services.set(name, new ServiceProcess(name, env));
  for (const started of services.values()) started.start();
});
afterAll(async () => {
  await Promise.all([...services.values()].map((running) => running.kill()));
  await endpoints.stop();
  await db.drop();
  await engines.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function rows<Row extends object>(sql: string): Promise<Row[]> {
  return (await db.pool.query<Row>(sql)).rows;
}

/** Publishes every candidate at least once, even if the broker fails. Tells `onProgress` how many it has published. */
async function publishCandidates(onProgress: (published: number) => Promise<void>): Promise<void> {
  const publisher = await createPublisher({ kafka, prefix: '', metrics: createMetrics(), logger: silentLogger() });
  for (let published = 0; published < CANDIDATES; published += BATCH) {
    await onProgress(published);
    const records = Array.from({ length: BATCH }, (_, index) => {
      const monitorId = monitors[(published + index) % MONITORS]!;
      const thingId = `t3_thing${Math.floor((published + index) / MONITORS)}`;
      return { key: monitorId, value: JSON.stringify(candidateOf({ monitorId, thingId })) };
    });
    await eventually('the broker takes candidates', async () => {
      try {
        await publisher.publish(MONITOR_CANDIDATES.name, records);
        return true;
      } catch (error) {
        if (error instanceof PublishFailed) return false;
        throw error;
      }
    });
    await wait(PACE_MS);
  }
  await publisher.stop();
}

/** The ids of the matches with an active lease. */
async function leased(): Promise<string[]> {
  const found = await rows<{ monitor_id: string; seq: number }>(
    'SELECT monitor_id, seq FROM matches WHERE lease_until > (SELECT service_now())',
  );
  return found.map(({ monitor_id, seq }) => matchId(monitor_id, seq));
}

/** Matches whose endpoint may have answered without a stored outcome: leased by a deliverer when it was killed. */
const leasedAtKill = new Set<string>();
let kills = 0;

async function killDeliverer(): Promise<void> {
  await eventually('attempts are under way', () => endpoints.answering > 10, 90_000);
  kills++;
  await service('deliverer').kill();
  for (const id of await leased()) leasedAtKill.add(id);
  service('deliverer').start();
}

async function killRecorder(): Promise<void> {
  await service('recorder').kill();
  service('recorder').start();
}

async function killBroker(): Promise<void> {
  const broker = engines.process('kafka');
  process.kill(broker.pid, 'SIGKILL');
  await broker.exited;
  await engines.restart('kafka');
}

const KILLS = new Map([
  [600, killDeliverer],
  [1_000, killRecorder],
  [1_400, killBroker],
]);

/** Whenever no attempt is due or running, moves the clock past the next attempt, until no match is pending. */
async function passTheLadder(): Promise<void> {
  for (let hours = 3; ; hours += 3) {
    const states = await eventually(
      'nothing is due or under way',
      async () => {
        const [found] = await rows<{ busy: number; pending: number }>(
          `SELECT count(*)::int AS pending, count(*) FILTER (WHERE next_attempt_at <= (SELECT service_now())
             OR lease_until > (SELECT service_now()))::int AS busy
           FROM matches WHERE delivery_status = 'pending'`,
        );
        return found!.busy === 0 && found!;
      },
      LIMIT_MS,
    );
    if (states.pending === 0) return;
    await db.setShift(`${hours} hours`);
  }
}

interface Attempt {
  attempt: number;
  status: number;
  error: string | null;
  delivery_status: string;
  started_at: Date;
  next_attempt_at: Date | null;
}

/** The outcome that the rules of the README give for the attempts so far. */
function ruledStatus(attempts: Attempt[]): string {
  const { status } = attempts.at(-1)!;
  if (status >= 200 && status < 300) return 'delivered';
  const isFinal = status !== 0 && status !== 429 && status < 500;
  return isFinal || attempts.length === 6 ? 'failed' : 'pending';
}

function expectByTheRules(attempts: Attempt[]): void {
  expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, at) => at + 1));
  for (const [at, { delivery_status, next_attempt_at }] of attempts.entries()) {
    expect(delivery_status).toBe(ruledStatus(attempts.slice(0, at + 1)));
    const next = attempts[at + 1];
    expect(next_attempt_at === null).toBe(next === undefined);
    // The start of an attempt is calculated from its end, in milliseconds.
    if (next) expect(next.started_at.getTime()).toBeGreaterThanOrEqual(next_attempt_at!.getTime() - 1);
  }
}

/** Every attempt on monitor.deliveries, as `monitor seq attempt`. */
async function publishedAttempts(enough: (published: Set<string>) => boolean): Promise<Set<string>> {
  const published = new Set<string>();
  const failed = Promise.withResolvers<never>();
  const consumer = await startBatchConsumer({
    kafka,
    prefix: '',
    group: 'chaos-reads-deliveries',
    topics: [MONITOR_DELIVERIES.name],
    metrics: createMetrics(),
    logger: silentLogger(),
    fatal: failed.reject,
    handle: (batch) => {
      for (const { value } of batch.records) {
        const { monitor_id, seq, attempt } = MONITOR_DELIVERIES.schema.parse(JSON.parse(value.toString()));
        published.add(`${monitor_id} ${seq} ${attempt}`);
      }
      return Promise.resolve({});
    },
  });
  await Promise.race([eventually('every attempt is published', () => enough(published), LIMIT_MS), failed.promise]);
  await consumer.stop();
  return published;
}

async function archivedAttempts(): Promise<number> {
  const client = createClient({ url: engines.urls.clickhouse });
  try {
    const answer = await client.query({
      query: 'SELECT count() AS n FROM delivery_attempts FINAL',
      format: 'JSONEachRow',
    });
    return Number((await answer.json<{ n: string }>())[0]!.n);
  } finally {
    await client.close();
  }
}

test('after kills of deliverer, recorder and broker every match is numbered once, and delivered or failed by the rules', async () => {
  await publishCandidates(async (published) => KILLS.get(published)?.());
  await eventually(
    'every candidate is a match',
    async () => (await rows<{ n: number }>('SELECT count(*)::int AS n FROM matches'))[0]!.n === CANDIDATES,
    LIMIT_MS,
  );
  await passTheLadder();

  // Numbered 1, 2, 3 … and in a final state.
  const matches = await rows<{ monitor_id: string; seq: number; delivery_status: string; attempts: Attempt[] }>(
    `SELECT m.monitor_id, m.seq, m.delivery_status FROM matches m ORDER BY m.monitor_id, m.seq`,
  );
  expect(matches).toHaveLength(CANDIDATES);
  for (const [at, { seq }] of matches.entries()) expect(seq).toBe((at % THINGS) + 1);
  expect(new Set(matches.map(({ delivery_status }) => delivery_status))).toEqual(new Set(['delivered', 'failed']));

  // The attempts follow the rules, and each was made at its scheduled time.
  const stored = await rows<Attempt & { monitor_id: string; seq: number }>(
    `SELECT monitor_id, seq, attempt, status, error, delivery_status, started_at, next_attempt_at
     FROM delivery_attempts ORDER BY monitor_id, seq, attempt`,
  );
  const attemptsOf = Map.groupBy(stored, ({ monitor_id, seq }) => matchId(monitor_id, seq));
  for (const { monitor_id, seq, delivery_status } of matches) {
    const attempts = attemptsOf.get(matchId(monitor_id, seq)) ?? [];
    expectByTheRules(attempts);
    expect(delivery_status).toBe(ruledStatus(attempts));
  }

  // The endpoints received only existing matches, and the stored outcomes are their responses.
  expect([...endpoints.answers.keys()].filter((id) => !attemptsOf.has(id))).toEqual([]);
  for (const [id, attempts] of attemptsOf) {
    const answers = endpoints.answers.get(id) ?? [];
    const statuses = attempts.map(({ status }) => status);
    if (!leasedAtKill.has(id)) {
      expect([id, answers]).toEqual([id, statuses]);
      continue;
    }
    // Killed between response and outcome: the endpoint received attempts that were not stored.
    const positions = statuses.map(() => -1);
    for (const [at, status] of statuses.entries())
      positions[at] = answers.indexOf(status, (positions[at - 1] ?? -1) + 1);
    expect([id, positions.includes(-1)]).toEqual([id, false]);
    expect(answers.length - statuses.length).toBeLessThanOrEqual(kills);
  }
  expect(leasedAtKill.size).toBeGreaterThan(0);

  // The topic and the archive contain every attempt.
  const wanted = new Set(stored.map(({ monitor_id, seq, attempt }) => `${monitor_id} ${seq} ${attempt}`));
  const published = await publishedAttempts((seen) => [...wanted].every((one) => seen.has(one)));
  expect([...published].filter((one) => !wanted.has(one))).toEqual([]);
  await eventually('every attempt is archived', async () => (await archivedAttempts()) === stored.length, LIMIT_MS);
}, 900_000);
