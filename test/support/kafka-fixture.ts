import { inject } from 'vitest';
import type { Topic } from '../../schemas/topics.ts';
import { createKafka } from '../../shared/kafka/kafka-connection.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../shared/kafka/publisher.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import { deleteGroups, ensureTopics } from '../../shared/kafka/topic-admin.ts';
import type { TopicDeclaration } from '../../shared/kafka/topic-admin.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import './provided-context.ts';
import { silentLogger } from './silent-logger.ts';
import { uniquePrefix } from './unique-prefix.ts';

export interface KafkaFixture {
  kafka: KafkaConnection;
  prefix: string;
  metrics: Metrics;
  publisher: Publisher;
  /** Creates a topic and gives its name back (without the prefix). */
  topic(name: string, partitions?: number): Promise<string>;
  /** For consumers that must not end; drop() throws what arrived here. */
  fatal: (error: Error) => void;
  /** Stops the publisher and removes this prefix's topics and groups. */
  drop(): Promise<void>;
}

export function topicOf(name: string, partitions: number, more: Partial<Topic> = {}): TopicDeclaration {
  return {
    name,
    partitions: { cluster: partitions, embedded: partitions },
    retentionMs: 3_600_000,
    embeddedRetentionBytes: undefined,
    ...more,
  };
}

/** A connection, a publisher and topics under a prefix of this test file alone. */
export async function createKafkaFixture(brokers: string = inject('kafkaBrokers')): Promise<KafkaFixture> {
  const logger = silentLogger();
  const metrics = createMetrics();
  const prefix = uniquePrefix();
  const kafka = createKafka({ brokers: brokers.split(','), clientId: 'test', logger });
  const publisher = await createPublisher({ kafka, prefix, metrics, logger });
  const unexpected: Error[] = [];
  return {
    kafka,
    prefix,
    metrics,
    publisher,
    fatal: (error) => void unexpected.push(error),
    async topic(name, partitions = 1) {
      await ensureTopics(kafka, { prefix, embedded: true, topics: [topicOf(name, partitions)] });
      return name;
    },
    async drop() {
      await publisher.stop();
      await removeEverything(kafka, prefix);
      if (unexpected.length > 0) throw new AggregateError(unexpected, 'a consumer ended unexpectedly');
    },
  };
}

async function removeEverything(kafka: KafkaConnection, prefix: string): Promise<void> {
  const { topics, groups } = await kafka.withAdmin(async (admin) => ({
    topics: (await admin.listTopics()).filter((topic) => topic.startsWith(prefix)),
    groups: (await admin.listGroups()).groups.filter(({ groupId }) => groupId.startsWith(prefix)),
  }));
  await deleteGroups(
    kafka,
    prefix,
    groups.map(({ groupId }) => groupId.slice(prefix.length)),
  );
  if (topics.length > 0) await kafka.withAdmin((admin) => admin.deleteTopics({ topics }));
}
