import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { BatchOutcome, ConsumedBatch } from './consumed-batch.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { CommittedOffset, TopicPartition } from './group-assignment.ts';
import type { KafkaConnection } from './kafka-connection.ts';

/** What onAssigned may do before the first batch of the new assignment is handled. */
export interface AssignmentApi {
  /** The committed offset and its metadata for every assigned partition. */
  committed(): CommittedOffset[];
  /**
   * Reading goes on at this offset (moved into the log's bounds); what lies below the committed one arrives as a
   * refill.
   */
  seek(topic: string, partition: number, offset: bigint): void;
  /** Aborted when this assignment is over. */
  signal: AbortSignal;
}

export interface BatchConsumerDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** Group and topics without the prefix. */
  group: string;
  topics: readonly string[];
  /**
   * Does the effect of a batch; offsets are committed after it resolves. It may get the same records again at any time,
   * so its effects have keys that make a repetition harmless. Calls for one partition never overlap.
   */
  handle: (batch: ConsumedBatch) => Promise<BatchOutcome | undefined> | Promise<void>;
  /**
   * Called once with an error that nobody expected; the process must end. Nothing is handled or committed afterwards.
   */
  fatal: (error: Error) => void;
  metrics: Metrics;
  logger: Logger;
  clock?: Clock;
  /** Without it a poison record is fatal. */
  deadLetters?: DeadLetters;
  /** Default 1. Calls for different partitions overlap then. */
  partitionsConcurrently?: number;
  /** Most records per call; default: as fetched (at most 1 MB per partition). */
  maxRecords?: number;
  /** Where a group without a committed offset begins; default true, and right for every group that has an effect. */
  fromBeginning?: boolean;
  /**
   * Errors of the handler that mean "try again", beside an engine that is away. The batch comes again after a pause.
   */
  isRetryable?: (error: unknown) => boolean;
  onAssigned?: (assignment: readonly TopicPartition[], api: AssignmentApi) => Promise<void>;
  /**
   * How long a killed member keeps its partitions; default 10 s (the broker's least is 6 s). An event loop blocked for
   * longer loses them.
   */
  sessionTimeoutMs?: number;
  /**
   * How long a member may go on with the batch in hand when the group changes; default 60 s, then it loses its
   * partitions.
   */
  rebalanceTimeoutMs?: number;
  /** Called after each offset commit; `next` is the first offset that is not done. */
  onCommitted?: (topic: string, partition: number, next: bigint) => void;
  /**
   * How long the broker holds an idle fetch; default 300 ms. It answers at once when records arrive, so it costs no
   * latency.
   */
  maxWaitMs?: number;
}
