import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { BatchOutcome, ConsumedBatch } from './consumed-batch.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { CommittedOffset, TopicPartition, UnreadRecords } from './group-assignment.ts';
import type { KafkaConnection } from './kafka-connection.ts';

export interface AssignmentApi {
  /** The committed offset and its metadata for every assigned partition. */
  committed(): CommittedOffset[];
  /** Moved into the bounds of the log. Records below the committed offset arrive as a refill. */
  seek(topic: string, partition: number, offset: bigint): void;
  signal: AbortSignal;
}

/** For consumers that neither pause nor seek, which would wait for the end of a fetch. */
export const ANY_RECORD = { bytes: 1, ms: 1_000 };

export interface BatchConsumerDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** Group and topics without the prefix. */
  group: string;
  topics: readonly string[];
  /**
   * The offset is committed after it resolves. It may get the same records again, so its effects need keys. Calls for
   * one partition never overlap.
   */
  handle: (batch: ConsumedBatch) => Promise<BatchOutcome | undefined> | Promise<void>;
  /** Called once with an unexpected error; the process must end. Unreadable records only halt this consumer. */
  fatal: (error: Error) => void;
  metrics: Metrics;
  logger: Logger;
  clock?: Clock;
  /** Ends the start while it waits for a broker. */
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
  /** False: offsets are never committed, so that each join begins with what comes next. */
  commits?: boolean;
  /** True for errors of the handler after which the batch is repeated, in addition to an engine that is unavailable. */
  isRetryable?: (error: unknown) => boolean;
  /** Called after each answer to a fetch: the first one after a join shows that reading has begun. */
  onFetched?: () => void;
  onAssigned?: (assignment: readonly TopicPartition[], api: AssignmentApi) => Promise<void>;
  /** How long a killed member, or one with a blocked event loop, keeps its partitions. Default 10 s, at least 6 s. */
  sessionTimeoutMs?: number;
  /** How long a member may continue its batch during a rebalance before it loses its partitions. Default 60 s. */
  rebalanceTimeoutMs?: number;
  /** Stores what the group never read, before it goes on; must be repeatable. Default: it is only logged. */
  noteLost?: (lost: UnreadRecords & { group: string }) => Promise<void>;
  /** Called after each offset commit. `next` is the first offset that is not yet handled. */
  onCommitted?: (topic: string, partition: number, next: bigint) => void;
  /**
   * A fetch is answered when there are `bytes` of records, or after `ms`. Default: any record, 300 ms. Pauses, seeks
   * and heartbeats wait for the answer, so for consumers that do much for each batch.
   */
  gather?: { bytes: number; ms: number };
}
