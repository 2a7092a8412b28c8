import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChangeListener } from '../../../services/matcher/change-listener.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import type { ConsumedBatch } from '../../../shared/kafka/consumed-batch.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { readToEnd } from '../../../shared/kafka/read-to-end.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import { migratePostgres } from '../../../shared/postgres/migrate-postgres.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { findPrimary, whyCommitsCanBeLost } from '../../../shared/postgres/postgres-servers.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import { startClusterEngines } from '../../support/cluster/cluster-engines.ts';
import type { ClusterEngines } from '../../support/cluster/cluster-engines.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { topicOf } from '../../support/fixtures/kafka-fixture.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const logger = silentLogger();
const TRIES = { logger, retries: 200, maxMs: 500 };

/** Three brokers, a primary and a standby that each commit waits for: real servers on this host. */
describe('a cluster', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-cluster-'));
  let engines: ClusterEngines;
  beforeAll(async () => {
    const progress = () => undefined;
    engines = await startClusterEngines({ dataDir, env: process.env, brokers: 3, synchronous: true, progress });
  });
  afterAll(async () => {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('no acknowledged record is missing where another broker has become the leader of a partition', async () => {
    const brokers = engines.env.KAFKA_BROKERS.split(',');
    const kafka = createKafka({ brokers, clientId: 'test', logger });
    const prefix = 'test.';
    await ensureTopics(kafka, { prefix, embedded: false, topics: [topicOf('moved', 3)], replication: 3 });
    const publisher = await createPublisher({ kafka, prefix, metrics: createMetrics(), logger });
    const acknowledged: string[] = [];
    const publish = async () => {
      const keys = Array.from({ length: 30 }, (_, index) => String(acknowledged.length + index));
      const records = keys.map((key) => ({ key, value: 'v' }));
      await retry(() => publisher.publish('moved', records), { ...TRIES, what: 'publishing' });
      acknowledged.push(...keys);
    };
    const leaderOf = (partition: number) =>
      kafka.withAdmin(async (admin) => {
        const { topics } = await admin.fetchTopicMetadata({ topics: ['test.moved'] });
        return topics[0]!.partitions.find(({ partitionId }) => partitionId === partition)!.leader;
      });
    await publish();
    // The publisher knows the leaders of a moment ago. Others answer what they lead, and one that it does not any more.
    for (const partition of [0, 1, 2]) {
      const leader = await leaderOf(partition);
      const partitionAssignment = [{ partition, replicas: [1, 2, 3].filter((node) => node !== leader) }];
      const topics = [{ topic: 'test.moved', partitionAssignment }];
      await kafka.withAdmin((admin) => admin.alterPartitionReassignments({ topics }));
      await eventually('another broker leads', async () => (await leaderOf(partition)) !== leader);
      await publish();
    }
    const stored = new Set<string>();
    const handle = ({ records }: ConsumedBatch) => {
      for (const { key } of records) stored.add(key);
      return Promise.resolve();
    };
    await readToEnd({ kafka, prefix, topics: ['moved'], handle });
    expect(acknowledged.filter((key) => !stored.has(key))).toEqual([]);
    await publisher.stop();
  });

  test('records reach their consumers while a broker hangs: the first seed, a leader and a coordinator', async () => {
    const kafka = createKafka({ brokers: engines.env.KAFKA_BROKERS.split(','), clientId: 'test', logger });
    const own = { kafka, prefix: 'test.', metrics: createMetrics(), logger };
    await ensureTopics(kafka, { ...own, embedded: false, topics: [topicOf('hanging', 6)], replication: 3 });
    const publisher = await createPublisher(own);
    const groups = ['one', 'two', 'three', 'four'].map((group) => ({ group, handled: new Set<string>() }));
    const fatal = (error: Error) => {
      throw error;
    };
    const consumers = await Promise.all(
      groups.map(({ group, handled }) => {
        const handle = ({ records }: ConsumedBatch) => {
          for (const { key } of records) handled.add(key);
          return Promise.resolve();
        };
        return startBatchConsumer({ ...own, group, topics: ['hanging'], partitionsConcurrently: 6, handle, fatal });
      }),
    );
    const publish = async (phase: string) => {
      const keys = Array.from({ length: 60 }, (_, index) => `${phase} ${index}`);
      const records = keys.map((key) => ({ key, value: 'v' }));
      await retry(() => publisher.publish('hanging', records), { ...TRIES, what: 'publishing' });
      const arrived = () => groups.every(({ handled }) => keys.every((key) => handled.has(key)));
      await eventually(`records arrive ${phase}`, arrived, 25_000);
    };
    await publish('before');
    const { pid } = engines.kafka.process(1);
    process.kill(pid, 'SIGSTOP');
    try {
      await publish('while it hangs');
      await kafka.ping();
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await publish('afterwards');
    await Promise.all([publisher, ...consumers].map((running) => running.stop()));
  });

  test('after a fail-over the standby serves, and it holds every commit that a client saw', async () => {
    const url = engines.env.DATABASE_URL;
    await migratePostgres(url, logger);
    const pool = createPool({ url, name: 'test', logger, max: 4 });
    const heard: string[] = [];
    const listener = new ChangeListener({
      ...{ postgresUrl: url, logger, clock: () => performance.now() },
      onChange: (id) => void heard.push(id),
      onLost: () => undefined,
      onConnected: () => undefined,
    });
    listener.start();
    try {
      expect(await whyCommitsCanBeLost(pool)).toBeUndefined();
      await pool.query('CREATE TABLE answered (number integer PRIMARY KEY)');
      await eventually('it listens', () => listener.isConnected());
      const before = await findPrimary(url, 30_000);
      const committed = await insertAround(() => engines.failOver());
      expect(await findPrimary(url, 30_000)).not.toBe(before);
      const { rows } = await pool.query<{ number: number }>('SELECT number FROM answered');
      const stored = new Set(rows.map(({ number }) => number));
      expect(committed.filter((number) => !stored.has(number))).toEqual([]);
      await eventually('it listens again', () => listener.isConnected(), 30_000);
      await pool.query(`SELECT pg_notify('monitor_changed', 'mon_after')`);
      await eventually('changes arrive', () => heard.includes('mon_after'));
      // Nothing is left to wait for, and the promoted server takes commits at once.
      expect(await whyCommitsCanBeLost(pool)).toBe('synchronous_standby_names is empty');
    } finally {
      await listener.stop();
      await pool.end();
    }

    /** Inserts rows by four connections until some while after `event`. @returns those whose commit was answered */
    async function insertAround(event: () => Promise<void>): Promise<number[]> {
      const answered: number[] = [];
      const state = { next: 0, ended: false };
      const insert = async () => {
        while (!state.ended) {
          const number = state.next++;
          try {
            await pool.query('INSERT INTO answered VALUES ($1)', [number]);
            answered.push(number);
          } catch (error) {
            if (!isPostgresUnavailable(error)) throw error;
          }
        }
      };
      const inserting = [insert(), insert(), insert(), insert()];
      await eventually('rows are inserted', () => answered.length > 100);
      await event();
      const whenPromoted = answered.length;
      await eventually('rows are inserted again', () => answered.length > whenPromoted + 100, 30_000);
      state.ended = true;
      await Promise.all(inserting);
      return answered;
    }
  });
});
