import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  FORUM_REMOVALS,
  MONITOR_CANDIDATES,
  RECORDER_GROUP,
  REMOVALS_ARCHIVER_GROUP,
  REMOVALS_RECORDER_GROUP,
  TOPICS,
} from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { consumerLag, ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { runAdminProcess } from '../../support/children/admin-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const TOPIC = MONITOR_CANDIDATES.name;
const SECRET_KEY = 'the key of the restored database';
const HOUR_MS = 3_600_000;

let fixture: KafkaFixture;
let db: TestDatabase;
beforeAll(async () => {
  [fixture, db] = await Promise.all([createKafkaFixture(), createTestDatabase()]);
  const sealed = createSecretBox(SECRET_KEY).seal('whsec', 'mon_a');
  await db.pool.query(`INSERT INTO accounts (id, email, mailbox) VALUES ('acc_a', 'a@example.com', 'a@example.com')`);
  await db.pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_secret, active_since, next_charge_at)
     VALUES ('mon_a', 'acc_a', 'a', '{rust}', $1, now(), now())`,
    [sealed],
  );
  // The row of a deleted monitor that was forgotten is the newest, and holds no secret.
  await db.pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, status, webhook_secret, active_since, next_charge_at)
     SELECT 'mon_b', account_id, name, keywords, 'deleted', '', active_since, next_charge_at FROM monitors`,
  );
  await db.pool.query(`INSERT INTO monitor_counters (monitor_id, last_seq) VALUES ('mon_a', 41)`);
});
afterAll(() => Promise.all([fixture.drop(), db.drop()]));

const finish = (takenAt: string, env: Record<string, string> = {}) =>
  runAdminProcess(['restore', 'finish', '--taken-at', takenAt], {
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: fixture.prefix,
    DATABASE_URL: db.url,
    SECRET_KEY,
    ...env,
  });
const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString();
const lastSeq = async () =>
  (await db.pool.query<{ seq: number }>('SELECT last_seq AS seq FROM monitor_counters')).rows[0]!.seq;

test('numbers jump, and candidates since the backup are read again; not while a service runs', async () => {
  // Neither topics nor groups: Kafka was lost, too.
  expect(JSON.parse((await finish(hoursAgo(0))).out)).toEqual({
    monitors: 1,
    candidates_read_again: 0,
    removals_read_again: 0,
  });
  expect(await lastSeq()).toBe(10_000_041);
  const { rows } = await db.pool.query<{ id: number }>(
    `INSERT INTO crawl_gaps (source, reason, opened_at) VALUES ('test', 'test', now()) RETURNING id`,
  );
  expect(rows[0]!.id).toBeGreaterThan(10_000_000);

  await ensureTopics(fixture.kafka, { prefix: fixture.prefix, embedded: true, topics: TOPICS });
  let read = 0;
  const consumer = await startBatchConsumer({
    ...{ ...fixture, group: RECORDER_GROUP, topics: [TOPIC], logger: fixture.kafka.logger },
    handle: ({ records }) => {
      read += records.length;
      return Promise.resolve();
    },
  });
  const keys = Array.from({ length: 50 }, (_, key) => ({ key: `mon_${key}`, value: 'v' }));
  await fixture.publisher.publish(TOPIC, keys);
  const lag = async () =>
    (await consumerLag(fixture.kafka, { prefix: fixture.prefix, group: RECORDER_GROUP, topics: [TOPIC] })).reduce(
      (sum, { lag: one }) => sum + one,
      0,
    );
  await eventually('all is committed', async () => read === 50 && (await lag()) === 0);
  expect(await finish(hoursAgo(1))).toMatchObject({
    code: 1,
    err: 'Nothing was changed: processes are still connected to the groups recorder. Stop all services first.\n',
  });
  expect(await lastSeq()).toBe(10_000_041);
  await consumer.stop();

  expect(JSON.parse((await finish(hoursAgo(1))).out)).toMatchObject({ candidates_read_again: 50 });
  expect(await lag()).toBe(50);
  // It never sets a group forward: what is unread stays unread.
  expect(JSON.parse((await finish(hoursAgo(0))).out)).toMatchObject({ candidates_read_again: 0 });
  expect(await lag()).toBe(50);
});

test('removals since the backup are read again by the group that writes Postgres, and by the one of the archive', async () => {
  const topic = FORUM_REMOVALS.name;
  const { kafka, prefix } = fixture;
  await fixture.publisher.publish(topic, [{ key: 't1_a', value: 'v' }]);
  const groups = [REMOVALS_RECORDER_GROUP, REMOVALS_ARCHIVER_GROUP];
  const lags = () =>
    Promise.all(
      groups.map(async (group) => {
        const partitions = await consumerLag(kafka, { prefix, group, topics: [topic] });
        return partitions.reduce((sum, { lag: one }) => sum + one, 0);
      }),
    );
  await kafka.withAdmin(async (admin) => {
    const ends = await admin.fetchTopicOffsets(prefix + topic);
    const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
    for (const group of groups) await admin.setOffsets({ groupId: prefix + group, topic: prefix + topic, partitions });
  });
  expect(await lags()).toEqual([0, 0]);
  expect(JSON.parse((await finish(hoursAgo(1))).out)).toMatchObject({ removals_read_again: 1 });
  expect(await lags()).toEqual([1, 1]);
});

test('another sealing key, and a time that is none or to come, are refused', async () => {
  const before = await lastSeq();
  expect(await finish(hoursAgo(1), { SECRET_KEY: 'another key of sixteen characters' })).toMatchObject({
    code: 1,
    err: 'Nothing was changed: SECRET_KEY cannot open the secrets of this database. Set the key that sealed them.\n',
  });
  for (const takenAt of ['yesterday', '2026-03-04', hoursAgo(-1)]) {
    expect(await finish(takenAt)).toMatchObject({
      code: 1,
      err: expect.stringContaining('--taken-at: must be') as string,
    });
  }
  expect(await lastSeq()).toBe(before);
});
