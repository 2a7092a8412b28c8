import { groupsOfTopic, matcherGroups } from '../../schemas/messages/consumer-groups.ts';
import { TOPICS, FORUM_COMMENTS, FORUM_POSTS } from '../../schemas/messages/topics.ts';
import {
  NotDrained,
  raisePartitions,
  connectedGroups,
  handOverGroups,
} from '../../shared/kafka/topics/raise-partitions.ts';
import { consumerLag, partitionCounts } from '../../shared/kafka/topics/topic-admin.ts';
import { AdminError, integerOption } from './command.ts';
import type { KafkaCommand, KafkaWorkDeps } from './command.ts';
import { parseMatcherCommit } from '../../schemas/messages/matcher-commit.ts';

const NAMES = TOPICS.map(({ name }) => name);
const MOST_PARTITIONS = 10_000;

const TOPICS_LIST: KafkaCommand = {
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

const TOPICS_RAISE: KafkaCommand = {
  name: 'topics raise',
  summary: 'raise the partitions of a topic, once everything in it is read and all services are stopped',
  optionsHelp: [
    '--topic TOPIC          the topic, without a prefix',
    '--partitions N         how many it gets; then start the services with KAFKA_PARTITIONS=TOPIC=N',
  ],
  examples: ['topics raise --topic monitor.candidates --partitions 48'],
  options: { topic: { type: 'string' }, partitions: { type: 'string' } },
  prepare(values) {
    const { topic } = values;
    if (topic === undefined || !NAMES.includes(topic)) {
      throw new AdminError(`--topic: must be one of ${NAMES.join(', ')}.`);
    }
    const count = integerOption(values, 'partitions', { max: MOST_PARTITIONS });
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

const MOST_SHARDS = 64;
const ITEMS = [FORUM_POSTS.name, FORUM_COMMENTS.name];

const MATCHERS_SHARE_OUT: KafkaCommand = {
  name: 'matchers share-out',
  summary: 'share the monitors out over another number of matcher groups, once all matchers are stopped',
  optionsHelp: [
    '--from N               how many groups there are now (MATCHER_SHARDS)',
    '--to N                 how many there will be; then start all services with MATCHER_SHARDS=N',
  ],
  examples: ['matchers share-out --from 1 --to 4'],
  options: { from: { type: 'string' }, to: { type: 'string' } },
  prepare(values) {
    const from = integerOption(values, 'from', { max: MOST_SHARDS });
    const to = integerOption(values, 'to', { max: MOST_SHARDS });
    if (from === to) throw new AdminError('--to: must be another number than --from.');
    return (deps) => shareOut(deps, from, to);
  },
};

/**
 * Lets each new group begin where the ring of the slowest old group began. What is read again is published again,
 * which is harmless: the recorder stores each pair once. Without this the new groups would begin with the oldest item.
 */
async function shareOut({ kafka, prefix }: KafkaWorkDeps, from: number, to: number): Promise<object[]> {
  const [before, after] = [matcherGroups(from), matcherGroups(to)];
  const connected = (await connectedGroups(kafka, prefix)).filter((group) => [...before, ...after].includes(group));
  if (connected.length > 0) {
    throw new AdminError(`Nothing was changed: matchers run in ${connected.join(', ')}: stop them first.`);
  }
  const count = await handOverGroups(kafka, { prefix, topics: ITEMS, from: before, to: after, beginOf: ringBegin });
  if (count === 0) {
    throw new AdminError(`Nothing was changed: ${before.join(', ')} have read nothing: is --from ${from} right?`);
  }
  return [{ from, to, groups: after, next: `start all services with MATCHER_SHARDS=${to}` }];
}

/** Where the next owner of a partition begins to read. */
function ringBegin({ offset, metadata }: { offset: bigint; metadata: string }): bigint {
  const refill = BigInt(parseMatcherCommit(metadata)?.refill ?? offset);
  return refill < offset ? refill : offset;
}

export const COMMANDS = [TOPICS_LIST, TOPICS_RAISE, MATCHERS_SHARE_OUT];
