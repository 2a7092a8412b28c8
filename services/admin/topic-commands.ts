import { parseMatcherCommit } from '../../schemas/messages/monitor-match.ts';
import { FORUM_COMMENTS, FORUM_POSTS, groupsOfTopic, matcherGroups, TOPICS } from '../../schemas/messages/topics.ts';
import { connectedGroups, handOverGroups, NotDrained, raisePartitions } from '../../shared/kafka/raise-partitions.ts';
import { consumerLag, partitionCounts } from '../../shared/kafka/topic-admin.ts';
import { AdminError, examples, integer, oneOf } from './command.ts';
import type { AddCommands, Installation } from './command.ts';

const NAMES = TOPICS.map(({ name }) => name);
const MOST_PARTITIONS = 10_000;

const MOST_SHARDS = 64;
const ITEMS = [FORUM_POSTS.name, FORUM_COMMENTS.name];

export const addCommands: AddCommands = (program, { lines, table }) => {
  const topics = program.command('topics');
  topics
    .command('list')
    .description('print each topic with its partitions and the lag of each consumer group')
    .addHelpText('after', examples('topics list'))
    .action(table(listTopics));
  topics
    .command('raise')
    .description(
      'raise the number of partitions of a topic, once everything in it is read and all services are stopped',
    )
    .requiredOption('--topic <topic>', 'the topic, without a prefix', oneOf('--topic', NAMES))
    .requiredOption(
      '--partitions <n>',
      'the new number; then start the services with KAFKA_PARTITIONS=TOPIC=N',
      integer('--partitions', MOST_PARTITIONS),
    )
    .addHelpText('after', examples('topics raise --topic monitor.candidates --partitions 48'))
    .action(lines(raise));
  program
    .command('matchers')
    .command('share-out')
    .description('redistribute the monitors over a different number of matcher groups, once all matchers are stopped')
    .requiredOption('--from <n>', 'the current number of groups (MATCHER_SHARDS)', integer('--from', MOST_SHARDS))
    .requiredOption(
      '--to <n>',
      'the new number; then start all services with MATCHER_SHARDS=N',
      integer('--to', MOST_SHARDS),
    )
    .addHelpText('after', examples('matchers share-out --from 1 --to 4'))
    .action(lines(shareOut));
};

async function* listTopics(installation: Installation): AsyncIterable<object> {
  await requireTopics(installation, NAMES);
  const { kafka, prefix, matcherShards } = installation;
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
  installation: Installation,
  { topic, partitions }: { topic: string; partitions: number },
): Promise<object[]> {
  await requireTopics(installation, [topic]);
  const { kafka, prefix, matcherShards } = installation;
  try {
    const groups = groupsOfTopic(topic, matcherShards);
    const before = await raisePartitions(kafka, { prefix, topic, groups, partitions });
    return [{ topic, partitions, before, next: `start the services with KAFKA_PARTITIONS=${topic}=${partitions}` }];
  } catch (error) {
    throw error instanceof NotDrained ? new AdminError(`Nothing was changed: ${error.message}.`) : error;
  }
}

/**
 * Fails at once when a topic is missing: the client would retry, as if the broker were still starting.
 *
 * @param topics without the prefix
 * @throws AdminError that names those that do not exist
 */
export async function requireTopics({ kafka, prefix }: Installation, topics: readonly string[]): Promise<void> {
  const existing = new Set(await kafka.withAdmin((admin) => admin.listTopics()));
  const missing = topics.map((topic) => prefix + topic).filter((topic) => !existing.has(topic));
  if (missing.length === 0) return;
  throw new AdminError(
    `Kafka has no topic ${missing.join(', ')}. Start the service once, or set KAFKA_TOPIC_PREFIX to the value of the service.`,
  );
}

/**
 * Lets each new group begin where the recent items of the slowest old group began. What is read again is published
 * again, which is harmless: the recorder stores each pair once. Without this the new groups would begin with the oldest
 * item.
 */
async function shareOut(
  { kafka, prefix }: Installation,
  { from, to }: { from: number; to: number },
): Promise<object[]> {
  if (from === to) throw new AdminError('--to: must differ from --from.');
  const [before, after] = [matcherGroups(from), matcherGroups(to)];
  const connected = (await connectedGroups(kafka, prefix)).filter((group) => [...before, ...after].includes(group));
  if (connected.length > 0) {
    throw new AdminError(`Nothing was changed: matchers are running in ${connected.join(', ')}. Stop them first.`);
  }
  const count = await handOverGroups(kafka, {
    prefix,
    topics: ITEMS,
    from: before,
    to: after,
    beginOf: beginOfRecentItems,
  });
  if (count === 0) {
    throw new AdminError(
      `Nothing was changed: ${before.join(', ')} have read nothing. Check that --from ${from} is right.`,
    );
  }
  return [{ from, to, groups: after, next: `start all services with MATCHER_SHARDS=${to}` }];
}

/** Where the next owner of a partition begins to read. */
function beginOfRecentItems({ offset, metadata }: { offset: bigint; metadata: string }): bigint {
  const refill = BigInt(parseMatcherCommit(metadata)?.refill ?? offset);
  return refill < offset ? refill : offset;
}
