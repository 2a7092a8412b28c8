import { groupsOfTopic } from '../../schemas/messages/consumer-groups.ts';
import { TOPICS } from '../../schemas/messages/topics.ts';
import { NotDrained, raisePartitions } from '../../shared/kafka/topics/raise-partitions.ts';
import { consumerLag, partitionCounts } from '../../shared/kafka/topics/topic-admin.ts';
import { AdminError } from './admin-error.ts';
import type { KafkaCommand, KafkaWorkDeps } from './command.ts';

const NAMES = TOPICS.map(({ name }) => name);
const MOST_PARTITIONS = 10_000;

export const TOPICS_LIST: KafkaCommand = {
  name: 'topics list',
  summary: 'print each topic, its partitions, and how many records each group has before it',
  optionsHelp: [],
  examples: ['topics list'],
  isList: true,
  options: {},
  prepare: () => async (deps) => {
    await requireTopics(deps, NAMES);
    return listTopics(deps);
  },
};

export const TOPICS_RAISE: KafkaCommand = {
  name: 'topics raise',
  summary: 'raise the partitions of a topic, once everything in it is read and all services are stopped',
  optionsHelp: [
    '--topic TOPIC          the topic, without a prefix',
    '--partitions N         how many it gets; then start the services with KAFKA_PARTITIONS=TOPIC=N',
  ],
  examples: ['topics raise --topic monitor.candidates --partitions 48'],
  options: { topic: { type: 'string' }, partitions: { type: 'string' } },
  prepare({ topic, partitions = '' }) {
    if (topic === undefined || !NAMES.includes(topic)) {
      throw new AdminError(`--topic: must be one of ${NAMES.join(', ')}.`);
    }
    const count = /^[1-9]\d{0,4}$/.test(partitions) ? Number(partitions) : Number.NaN;
    if (!(count <= MOST_PARTITIONS)) {
      throw new AdminError(`--partitions: must be a whole number from 1 to ${MOST_PARTITIONS}.`);
    }
    return async (deps) => {
      await requireTopics(deps, [topic]);
      return raise(deps, topic, count);
    };
  },
};

async function* listTopics({ kafka, prefix, matcherShards }: KafkaWorkDeps): AsyncIterable<object> {
  const counts = await partitionCounts(
    kafka,
    NAMES.map((name) => prefix + name),
  );
  for (const topic of NAMES) {
    const lags: Record<string, number> = {};
    for (const group of groupsOfTopic(topic, matcherShards)) {
      const partitions = await consumerLag(kafka, { prefix, group, topics: [topic] });
      lags[group] = partitions.reduce((sum, { lag }) => sum + lag, 0);
    }
    yield { topic, partitions: counts.get(prefix + topic), lags };
  }
}

async function raise(
  { kafka, prefix, matcherShards }: KafkaWorkDeps,
  topic: string,
  partitions: number,
): Promise<object[]> {
  try {
    const groups = groupsOfTopic(topic, matcherShards);
    const before = await raisePartitions(kafka, { prefix, topic, groups, partitions });
    return [{ topic, partitions, before, next: `start the services with KAFKA_PARTITIONS=${topic}=${partitions}` }];
  } catch (error) {
    throw error instanceof NotDrained ? new AdminError(`Nothing was changed: ${error.message}.`) : error;
  }
}

/**
 * A broker without these topics would be asked for them again and again, as if it were starting.
 *
 * @param topics without the prefix
 * @throws AdminError that names those that do not exist
 */
export async function requireTopics(
  { kafka, prefix }: Pick<KafkaWorkDeps, 'kafka' | 'prefix'>,
  topics: readonly string[],
): Promise<void> {
  const existing = new Set(await kafka.withAdmin((admin) => admin.listTopics()));
  const missing = topics.map((topic) => prefix + topic).filter((topic) => !existing.has(topic));
  if (missing.length === 0) return;
  throw new AdminError(
    `Kafka has no topic ${missing.join(', ')}. Start the service once, or set KAFKA_TOPIC_PREFIX to the service's.`,
  );
}
