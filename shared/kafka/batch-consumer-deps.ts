import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { BatchOutcome, ConsumedBatch } from './consumed-batch.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { CommittedOffset, TopicPartition, UnreadRecords } from './group-assignment.ts';
import type { KafkaConnection } from './kafka-connection.ts';

/** The operations of onAssigned, which runs before the first batch of a new assignment. */
export interface AssignmentApi {
  /** The committed offset and its metadata for every assigned partition. */
  committed(): CommittedOffset[];
  /**
   * Continues reading at this offset, moved into the bounds of the log. Records below the committed offset arrive as a
   * refill.
   */
  seek(topic: string, partition: number, offset: bigint): void;
  /** Aborted when this assignment ends. */
  signal: AbortSignal;
}

/**
 * For consumers that neither pause nor seek: a record is answered at once, and a fetch without one takes as long as
 * members may take to learn of a rebalance.
 */
export const ANY_RECORD = { bytes: 1, ms: 1_000 };

export interface BatchConsumerDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** Group and topics without the prefix. */
  group: string;
  topics: readonly string[];
  /**
   * Applies the effect of a batch; the offset is committed after it resolves. It may receive the same records again at
   * any time, so its effects need keys that make a repetition harmless. Calls for one partition never overlap.
   */
  handle: (batch: ConsumedBatch) => Promise<BatchOutcome | undefined> | Promise<void>;
  /**
   * Called once with an unexpected error; the process must end. Nothing is handled or committed afterwards. Too many
   * unreadable records only halt this consumer.
   */
  fatal: (error: Error) => void;
  metrics: Metrics;
  logger: Logger;
  clock?: Clock;
  /** Ends the start while it waits for a broker. Default: it waits until one answers. */
  startSignal?: AbortSignal;
  /** Without it a poison record is fatal. */
  deadLetters?: DeadLetters;
  /** How long a consumer that halted before unreadable records stays out of its group; default a minute. */
  haltMs?: number;
  /** Default 1. With a larger number calls for different partitions overlap. */
  partitionsConcurrently?: number;
  /** The maximum number of records per call. Default: as fetched, at most 1 MB per partition. */
  maxRecords?: number;
  /** Where a group without a committed offset begins; default true, and right for every group that has an effect. */
  fromBeginning?: boolean;
  /**
   * True for errors of the handler that allow a retry, in addition to an engine that is away. The batch is repeated
   * after a pause.
   */
  isRetryable?: (error: unknown) => boolean;
  onAssigned?: (assignment: readonly TopicPartition[], api: AssignmentApi) => Promise<void>;
  /**
   * How long a killed member keeps its partitions. Default 10 s; the broker's minimum is 6 s. A process whose event
   * loop is blocked for longer loses its partitions.
   */
  sessionTimeoutMs?: number;
  /**
   * How long a member may continue its current batch during a rebalance. Default 60 s; then it loses its partitions.
   */
  rebalanceTimeoutMs?: number;
  /**
   * Stores what the group never read, before it goes on; noting it again must be harmless. Default: it is only logged.
   */
  noteLost?: (lost: UnreadRecords & { group: string }) => Promise<void>;
  /** Called after each offset commit. `next` is the first offset that is not yet handled. */
  onCommitted?: (topic: string, partition: number, next: bigint) => void;
  /**
   * How the broker gathers records before it answers a fetch: until there are `bytes` of them, or for `ms`. Default: it
   * answers as soon as there is any record, and after 300 ms without one. For consumers that do much for each batch.
   * A heartbeat follows each answer without records, a second apart at least; pauses and seeks take effect after it.
   */
  gather?: { bytes: number; ms: number };
}
