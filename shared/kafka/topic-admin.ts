import kafkajs from 'kafkajs';
import type { Admin } from 'kafkajs';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { retry } from '../runtime/retry.ts';
import { protocolErrorType } from './kafka-connection.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { isKafkaUnavailable } from './kafka-unavailable.ts';
import { checkTopic, topicConfig, topicSettings, USUAL_REPLICATION } from './topic-settings.ts';
import type { FoundTopic, CheckedCluster, TopicFault, TopicPlan, TopicSettings } from './topic-settings.ts';

/** Existing topics are not as this installation needs them; the message names each and the command that fixes it. */
export class TopicsDiffer extends Error {
  override name = 'TopicsDiffer';
}

const DISCARD_MS = 3_000;

/**
 * Creates missing topics, each with its dead-letter topic, and checks the others, whose settings stay. What only
 * endangers records is logged. Several processes may call it at once.
 *
 * @throws TopicsDiffer for another partition count, which would move keys and lose their order; in a cluster also for
 *   settings under which records would be lost, wrongly matched or unreadable. A retryable error while fewer brokers
 *   answer than `replication` requires.
 */
export async function ensureTopics(kafka: KafkaConnection, plan: TopicPlan): Promise<void> {
  const wanted = topicSettings(plan);
  await kafka.withAdmin(async (admin) => {
    const existing = new Set(await admin.listTopics());
    const missing = wanted.filter(({ topic }) => !existing.has(topic));
    if (missing.length > 0) await createTopics(admin, plan, missing);
    // Not every broker knows a new topic at once; until then its metadata is an error.
    const found = await retry(() => readTopics(admin, wanted), {
      what: 'reading the settings of topics',
      logger: kafka.logger,
      retries: 30,
      maxMs: 500,
    });
    refuseOtherCounts(found, wanted);
    if (plan.embedded) return;
    const cluster = { replication: plan.replication, brokers: (await admin.describeCluster()).brokers.length };
    checkAll(kafka, cluster, { wanted, found });
  });
}

async function createTopics(admin: Admin, plan: TopicPlan, missing: readonly TopicSettings[]): Promise<void> {
  const brokers = plan.embedded ? 1 : (await admin.describeCluster()).brokers.length;
  const replication = (plan.embedded ? 1 : plan.replication) ?? Math.min(USUAL_REPLICATION, brokers);
  if (replication > brokers) {
    throw new Error(`KAFKA_REPLICATION is ${replication}, but only ${brokers} brokers respond`);
  }
  await admin.createTopics({
    topics: missing.map((topic) => topicConfig(topic, replication)),
    timeout: 10_000,
    waitForLeaders: false,
  });
}

async function readTopics(admin: Admin, wanted: readonly TopicSettings[]): Promise<Map<string, FoundTopic>> {
  const names = wanted.map(({ topic }) => topic);
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
  });
  const configs = new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
  return new Map(
    topics.map(({ name, partitions }) => [
      name,
      {
        partitions: partitions.length,
        replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
        config: configs.get(name) ?? new Map<string, string>(),
      },
    ]),
  );
}

function refuseOtherCounts(found: ReadonlyMap<string, FoundTopic>, wanted: readonly TopicSettings[]): void {
  const faults = wanted
    .filter(({ topic, partitions }) => found.get(topic)?.partitions !== partitions)
    .map(
      ({ topic, partitions }) =>
        `  ${topic} has ${found.get(topic)?.partitions ?? 0}, but this version needs ${partitions}`,
    );
  if (faults.length > 0) {
    throw new TopicsDiffer(
      `These topics have the wrong number of partitions:\n${faults.join('\n')}\n` +
        'Records with the same key would get out of order. Stop all services and raise the number with `admin topics raise`, which waits until every group has lag 0. Or set the numbers in KAFKA_PARTITIONS, or set another KAFKA_TOPIC_PREFIX.',
    );
  }
}

function checkAll(
  { logger }: KafkaConnection,
  cluster: CheckedCluster,
  { wanted, found }: { wanted: readonly TopicSettings[]; found: ReadonlyMap<string, FoundTopic> },
): void {
  const faults = wanted.flatMap((settings) => checkTopic(settings, found.get(settings.topic)!, cluster));
  const line = ({ topic, fault, command }: TopicFault) => `  ${topic} ${fault}. To fix it, run: ${command}`;
  for (const fault of faults.filter(({ isFatal }) => !isFatal)) {
    logger.warn({ topic: fault.topic, command: fault.command }, `the topic ${fault.topic} ${fault.fault}`);
  }
  const fatal = faults.filter(({ isFatal }) => isFatal);
  if (fatal.length > 0) {
    throw new TopicsDiffer(`These topics are misconfigured:\n${fatal.map(line).join('\n')}`);
  }
}

export async function partitionCounts(kafka: KafkaConnection, topics: readonly string[]): Promise<Map<string, number>> {
  const metadata = await kafka.withAdmin((admin) => admin.fetchTopicMetadata({ topics: [...topics] }));
  return new Map(metadata.topics.map(({ name, partitions }) => [name, partitions.length]));
}

/** Group and topics without the prefix. */
interface GroupOfTopics {
  prefix: string;
  group: string;
  topics: readonly string[];
}

/** `groupPositions`, with the number of records that the group has not read of each partition. */
export async function consumerLag(
  kafka: KafkaConnection,
  options: GroupOfTopics,
): Promise<(GroupPosition & { lag: number })[]> {
  return (await groupPositions(kafka, options)).map((position) => ({ ...position, lag: lagOf([position]) }));
}

export function lagOf(positions: readonly GroupPosition[]): number {
  return positions.reduce((sum, { next, head }) => sum + Number(head - next), 0);
}

export interface GroupPosition {
  /** Without the prefix. */
  topic: string;
  partition: number;
  /** The offset that the group reads next: the committed one, or the oldest record's where that is later. */
  next: bigint;
  /** The offset that the next new record gets; never below `next`. */
  head: bigint;
}

/**
 * Where a group is in each partition. Tries for about 20 s while the brokers are unavailable: one that has just started
 * loads its groups first.
 */
export function groupPositions(kafka: KafkaConnection, options: GroupOfTopics): Promise<GroupPosition[]> {
  return retry(() => kafka.withAdmin((admin) => readGroupPositions(admin, options)), {
    what: `reading the offsets of ${options.group}`,
    logger: kafka.logger,
    retries: 20,
    maxMs: 1_000,
    isRetryable: isKafkaUnavailable,
  });
}

/** The same with an open admin connection and a single try. */
export async function readGroupPositions(admin: Admin, options: GroupOfTopics): Promise<GroupPosition[]> {
  const topics = options.topics.map((topic) => options.prefix + topic);
  const committed = new Map<string, bigint>();
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId: options.prefix + options.group, topics })) {
    for (const { partition, offset } of partitions) committed.set(`${topic}|${partition}`, BigInt(offset));
  }
  const positions: GroupPosition[] = [];
  for (const topic of topics) {
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
      // A negative offset means that nothing was committed. Records between the committed one and `low` have expired.
      const next = max(committed.get(`${topic}|${partition}`) ?? -1n, BigInt(low));
      positions.push({ topic: topic.slice(options.prefix.length), partition, next, head: max(BigInt(high), next) });
    }
  }
  return positions;
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Without members; those that do not exist are ignored. @throws Error that names the group and what the broker said */
export async function deleteGroups(kafka: KafkaConnection, prefix: string, groups: readonly string[]): Promise<void> {
  await kafka.withAdmin(async (admin) => {
    for (const group of groups) {
      try {
        await admin.deleteGroups([prefix + group]);
      } catch (error) {
        const reasons = groupErrors(error);
        if (reasons.every((reason) => reason === 'GROUP_ID_NOT_FOUND')) continue;
        throw new Error(`consumer group ${group} was not deleted: ${reasons.join(', ')}`, { cause: error });
      }
    }
  });
}

/** A failure is only logged: the broker removes a group without members when its offsets have expired. */
export async function discardGroup(
  { kafka, prefix, logger }: { kafka: KafkaConnection; prefix: string; logger: Logger },
  group: string,
): Promise<void> {
  try {
    await withDeadline(deleteGroups(kafka, prefix, [group]), DISCARD_MS, 'the broker did not respond in time');
  } catch (error) {
    logger.info({ err: error, group }, 'a consumer group that is no longer used was not deleted');
  }
}

/** What the broker said of each group, or of the request: kafkajs wraps the former in an error with a list. */
function groupErrors(error: unknown): string[] {
  const isList = error instanceof Error && 'groups' in error && Array.isArray(error.groups);
  const failures: unknown[] = isList ? (error.groups as unknown[]) : [{ error }];
  return failures.map((failure) => {
    const cause = typeof failure === 'object' && failure !== null && 'error' in failure ? failure.error : failure;
    return protocolErrorType(cause) ?? (cause instanceof Error ? cause.message : String(cause));
  });
}
