import { repeatEvery } from '../runtime/lifecycle.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { lagOf, readGroupPositions } from './topic-admin.ts';

const INTERVAL_MS = 15_000;

/** A consumer group and the topics that it reads, without the prefix. */
export interface Subscription {
  group: string;
  topics: readonly string[];
}

/** The records that wait for each group. Takes as long as the broker; retries for about 7 s while it is unavailable. */
export async function readGroupLags(options: {
  kafka: KafkaConnection;
  prefix: string;
  subscriptions: readonly Subscription[];
}): Promise<Record<string, number>> {
  const { kafka, prefix, subscriptions } = options;
  return kafka.withAdmin(async (admin) => {
    const lags: Record<string, number> = {};
    for (const { group, topics } of subscriptions) {
      lags[group] = lagOf(await readGroupPositions(admin, { prefix, group, topics }));
    }
    return lags;
  });
}

/**
 * Exports the lag of each group per topic every 15 s. While the broker is unavailable the metric keeps its last value.
 */
export function startLagMonitor(options: {
  kafka: KafkaConnection;
  prefix: string;
  subscriptions: readonly Subscription[];
  metrics: Metrics;
  logger: Logger;
}): Running {
  const { kafka, prefix, subscriptions, metrics, logger } = options;
  const measure = () =>
    kafka.withAdmin(async (admin) => {
      for (const { group, topics } of subscriptions) {
        const positions = Map.groupBy(await readGroupPositions(admin, { prefix, group, topics }), ({ topic }) => topic);
        for (const [topic, partitions] of positions) metrics.kafkaLag.set({ topic, group }, lagOf(partitions));
      }
    });
  return repeatEvery(INTERVAL_MS, () =>
    measure().catch((error: unknown) => {
      logger.debug({ err: error }, 'the lag of the consumer groups could not be read');
    }),
  );
}

/** Offsets by topic (without the prefix) and partition, as text because they may exceed a safe integer. */
export type PartitionOffsets = Record<string, Record<string, string>>;

export interface GroupProgress {
  /** The offset after the last record (high watermark). */
  heads: PartitionOffsets;
  /** The group has finished every record below this offset, or it has expired. */
  finished: PartitionOffsets;
}

/** The broker did not answer; a later call may succeed. */
export class GroupProgressUnavailable extends Error {
  override name = 'GroupProgressUnavailable';
}

export async function readGroupProgress(
  kafka: KafkaConnection,
  prefix: string,
  { group, topics }: Subscription,
): Promise<GroupProgress> {
  try {
    const positions = await kafka.withAdmin((admin) => readGroupPositions(admin, { prefix, group, topics }));
    const progress: GroupProgress = { heads: {}, finished: {} };
    for (const { topic, partition, next, head } of positions) {
      (progress.heads[topic] ??= {})[partition] = String(head);
      (progress.finished[topic] ??= {})[partition] = String(next);
    }
    return progress;
  } catch (error) {
    throw new GroupProgressUnavailable(`cannot read the progress of the group ${group} from Kafka`, { cause: error });
  }
}

/** Whether the group has finished every record below earlier heads. */
export function hasFinished(heads: PartitionOffsets, progress: GroupProgress): boolean {
  return Object.entries(heads).every(([topic, partitions]) =>
    Object.entries(partitions).every(([partition, head]) => {
      const now = progress.heads[topic]?.[partition];
      const finished = progress.finished[topic]?.[partition];
      // A head lower than before means that the topic was created again, without its old records.
      return now !== undefined && finished !== undefined && BigInt(finished) >= earlier(head, now);
    }),
  );
}

function earlier(a: string, b: string): bigint {
  return BigInt(a) < BigInt(b) ? BigInt(a) : BigInt(b);
}
