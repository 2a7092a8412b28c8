import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { recordedMatch } from '../../../schemas/messages/monitor-match.ts';
import type { Candidate, RecordedMatch } from '../../../schemas/messages/monitor-match.ts';
import { MONITOR_CANDIDATES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { startRecorder } from '../../../services/recorder/start-recorder.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { partitionOfKey } from '../../../shared/kafka/publisher.ts';
import { consumerLag, ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { lockRecordingMonitors } from '../../../shared/matches/recording.ts';
import { BACKGROUND_LIMITS, createPool, inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import { counted } from '../../support/fixtures/crawler-fixture.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { candidateOf, insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let fixture: KafkaFixture;
let database: TestDatabase;
let reader: Running;
const published: RecordedMatch[] = [];
let recorders: Running[] = [];

beforeAll(async () => {
  [fixture, database] = await Promise.all([createKafkaFixture(), createTestDatabase()]);
  const { kafka, prefix } = fixture;
  await ensureTopics(kafka, { prefix, embedded: true, topics: [MONITOR_CANDIDATES, MONITOR_MATCHES] });
  reader = await startBatchConsumer({
    ...fixture,
    group: 'reader',
    topics: [MONITOR_MATCHES.name],
    logger: silentLogger(),
    async handle(batch) {
      for (const { value } of batch.records) published.push(recordedMatch.parse(JSON.parse(value.toString())));
    },
  });
});
afterEach(async () => {
  await Promise.all(recorders.map((recorder) => recorder.stop()));
  recorders = [];
});
afterAll(async () => {
  await reader.stop();
  await Promise.all([fixture.drop(), database.drop()]);
});

async function start(pool: Pool = database.pool): Promise<void> {
  recorders.push(await startRecorder({ ...fixture, pool, toleranceMs: 0, logger: silentLogger() }));
}

const send = (candidates: Candidate[]) =>
  fixture.publisher.publish(
    MONITOR_CANDIDATES.name,
    candidates.map((candidate) => ({ key: candidate.monitor_id, value: JSON.stringify(candidate) })),
  );

let things = 0;
const someOf = (monitorId: string, count: number) =>
  Array.from({ length: count }, () => candidateOf({ monitorId, thingId: `t1_s${(things++).toString(36)}` }));

const publishedOf = (monitorId: string) => published.filter((match) => match.monitor_id === monitorId);
const seqsOf = (monitorId: string) =>
  [...new Set(publishedOf(monitorId).map((match) => match.seq))].sort((a, b) => a - b);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Repeats the assertion until it holds. */
const eventually = (assertion: () => unknown) => vi.waitFor(assertion, { timeout: 60_000, interval: 50 });

async function expectNoLag(): Promise<void> {
  await eventually(async () => {
    const lags = await consumerLag(fixture.kafka, { ...fixture, group: 'recorder', topics: [MONITOR_CANDIDATES.name] });
    expect(lags.reduce((sum, { lag }) => sum + lag, 0)).toBe(0);
  });
}

test('publishes matches, commits the offsets, and continues after an unreadable candidate', async () => {
  const [monitorId] = (await insertMonitors(database.pool, 1)) as [string];
  const [first, ...others] = someOf(monitorId, 5);
  await send([first!]);
  await fixture.publisher.publish(MONITOR_CANDIDATES.name, [{ key: monitorId, value: '{"v":1}' }]);
  await send(others);
  await start();
  await eventually(() => {
    expect(seqsOf(monitorId)).toEqual(upTo(5));
  });
  expect(publishedOf(monitorId).map((match) => match.item)).toEqual([first!, ...others].map(({ item }) => item));
  await expectNoLag();
  expect(await counted(fixture.metrics, 'kafka_dead_letters_total', { group: 'recorder' })).toBe(1);
});

test('publishes every match of every monitor while recorders join and leave', async () => {
  const monitors = await insertMonitors(database.pool, 12, { pack: 79 });
  const waves = Array.from({ length: 6 }, () => monitors.flatMap((monitorId) => someOf(monitorId, 60)));
  await start();
  for (const [index, wave] of waves.entries()) {
    if (index === 1) await start();
    if (index === 4) await recorders.shift()!.stop();
    await send(wave);
  }
  await eventually(() => {
    for (const monitorId of monitors) expect(seqsOf(monitorId)).toEqual(upTo(360));
  });
  const { rows } = await database.pool.query<{ last_seq: number }>(
    'SELECT DISTINCT last_seq FROM monitor_counters WHERE monitor_id = ANY ($1)',
    [monitors],
  );
  expect(rows).toEqual([{ last_seq: 360 }]);
});

test('a monitor whose lock is held delays no candidate of another partition for longer than its first try', async () => {
  const partitions = MONITOR_CANDIDATES.partitions.embedded;
  const monitors = await insertMonitors(database.pool, 20);
  const [held] = monitors as [string];
  const free = monitors.find((id) => partitionOfKey(id, partitions) !== partitionOfKey(held, partitions))!;
  const limits = { ...BACKGROUND_LIMITS, lockMs: 300 };
  const pool = createPool({ url: database.url, name: 'impatient', logger: silentLogger(), limits });
  await send([...someOf(held, 1), ...someOf(free, 1)]);
  await inTransaction(database.pool, async (client) => {
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await lockRecordingMonitors(client, [held]);
    await start(pool);
    await eventually(() => {
      expect(seqsOf(free)).toEqual([1]);
    });
    expect(seqsOf(held)).toEqual([]);
  });
  await eventually(() => {
    expect(seqsOf(held)).toEqual([1]);
  });
  await recorders.shift()!.stop();
  await pool.end();
});
