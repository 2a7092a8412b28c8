import { setImmediate } from 'node:timers/promises';
import type { EachBatchPayload, TopicOffsets } from 'kafkajs';
import { CallBatcher } from '../runtime/call-batcher.ts';
import { delay } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import { toError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { OutageLog, unavailableEngine } from '../runtime/outage-log.ts';
import { cutUnits, PoisonMessage, toConsumedRecord } from './consumed-batch.ts';
import type { BatchOutcome, ConsumedBatch, ConsumedRecord, PoisonRecord } from './consumed-batch.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { CommittedOffset, GroupAssignment, TopicPartition, UnreadRecords } from './group-assignment.ts';
import { protocolErrorType } from './kafka-connection.ts';
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
  /** Called once with an unexpected error; the process must end. Malformed records only halt this consumer. */
  fatal: (error: Error) => void;
  metrics: Metrics;
  logger: Logger;
  clock?: Clock;
  /** Ends the start while it waits for a broker. */
  startSignal?: AbortSignal;
  /** Without it a poison record is fatal. */
  deadLetters?: DeadLetters;
  /** How long a consumer that halted before malformed records stays out of its group; default a minute. */
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

/** Errors of the group coordinator that mean that this member has lost its partitions. */
const LOST = new Set(['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'FENCED_INSTANCE_ID']);
/** kafkajs sends at most one heartbeat per heartbeatInterval, however often it is called. */
const HEARTBEAT_CHECK_MS = 500;
const MIN_BACKOFF_MS = 200;
const MAX_BACKOFF_MS = 5_000;

interface Ownership {
  ownsPartition: () => boolean;
  isCurrent: () => boolean;
}

interface Fetched {
  payload: EachBatchPayload;
  topic: string;
  partition: number;
  assignment: GroupAssignment;
  ownership: Ownership;
}

type Options = BatchConsumerDeps & { clock: Clock };

/**
 * Processes one fetched batch in units of at most maxRecords. A crash after any step repeats the unit from step 1:
 *   1. the handler applies its effect;
 *   2. poison records go to the dead-letter topic;
 *   3. the offset is committed (not for a refill);
 *   4. the offset is resolved, so that kafkajs continues after it.
 * If a step cannot be done, processing returns early: the offset stays unresolved, and the records are repeated.
 */
export class BatchRunner {
  private readonly options: Options;
  private readonly metrics: Metrics;
  private readonly logger: Logger;
  private readonly outage: OutageLog;
  private readonly commits = new OffsetCommits();
  private failuresInARow = 0;
  /** The newest failure, which several partitions share when they shared the work. */
  private lastFailure: { error: unknown; waitMs: number } | undefined;

  constructor(options: Options) {
    this.options = options;
    this.metrics = options.metrics;
    this.logger = options.logger;
    this.outage = new OutageLog({ ...options, work: options.group });
    // A counter that begins at 1 has not increased: without these zeros the first fault would raise no alert.
    for (const topic of options.topics) {
      this.metrics.kafkaDeadLetters.inc({ topic, group: options.group }, 0);
    }
  }

  /** @throws only protocol and connection errors of Kafka; kafkajs then joins again or reconnects. */
  async run(payload: EachBatchPayload, assignment: GroupAssignment, ownership: Ownership): Promise<void> {
    const { batch } = payload;
    const fetched: Fetched = {
      payload,
      topic: batch.topic.slice(this.options.prefix.length),
      partition: batch.partition,
      assignment,
      ownership,
    };
    const heartbeats = setInterval(() => void sendHeartbeat(fetched), HEARTBEAT_CHECK_MS);
    try {
      // A batch that was fetched before the seek of onAssigned took effect is stale, so it is dropped.
      if (!(await assignment.ready) || !ownership.isCurrent()) return;
      await this.runUnits(fetched);
    } finally {
      clearInterval(heartbeats);
    }
    // The current unit is finished and committed; now this member joins the rebalance.
    if (assignment.rejoin) throw assignment.rejoin;
  }

  private async runUnits(fetched: Fetched): Promise<void> {
    const { topic, partition, assignment, ownership, payload } = fetched;
    const records = payload.batch.messages.map((message) => toConsumedRecord(topic, partition, message));
    const first = records[0];
    if (!first) return;
    const labels = { topic, group: this.options.group };
    this.metrics.kafkaOldestAge.set(labels, Math.max(0, this.options.clock() - first.timestampMs) / 1_000);
    if (!(await this.begin(fetched, first))) return;
    const committed = assignment.committedOffset(topic, partition);
    for (const unit of cutUnits(records, committed, this.options.maxRecords ?? Number.POSITIVE_INFINITY)) {
      if (!ownership.isCurrent() || assignment.rejoin) return;
      if (!(await this.runUnit(fetched, unit))) return;
    }
  }

  /** Notes what the group never read before this record, before a commit hides it. False: it could not be noted. */
  private async begin(fetched: Fetched, first: ConsumedRecord): Promise<boolean> {
    const { assignment, payload } = fetched;
    const highWatermark = BigInt(payload.batch.highWatermark);
    const unread = assignment.unreadBefore(first, highWatermark);
    if (unread) {
      try {
        await this.options.noteLost?.({ ...unread, group: this.options.group });
      } catch (error) {
        await this.handleFailure(fetched, error);
        return false;
      }
      const { topic, partition, from, to } = unread;
      this.logger.error(
        { topic, partition, from: String(from), to: String(to) },
        'the expected offset is not in the log; reading continues at another one, and records may have expired unread',
      );
    }
    assignment.begin(first, highWatermark);
    return true;
  }

  private async runUnit(fetched: Fetched, unit: readonly ConsumedRecord[]): Promise<boolean> {
    const { topic, partition, assignment, ownership, payload } = fetched;
    const last = unit.at(-1)!;
    const committed = assignment.committedOffset(topic, partition);
    const isRefill = committed !== undefined && last.offset < committed;
    const endTimer = this.metrics.kafkaBatchSeconds.startTimer({ topic, group: this.options.group });
    let outcome: BatchOutcome;
    try {
      outcome = await this.handle(fetched, unit, committed, isRefill);
      if (!isRefill && ownership.isCurrent()) await this.setAside(unit, outcome.poison ?? []);
    } catch (error) {
      await this.handleFailure(fetched, error);
      return false;
    }
    this.failuresInARow = 0;
    this.outage.recovered();
    if (!ownership.isCurrent()) return false;
    const next = last.offset + 1n;
    if (!isRefill && this.options.commits !== false) {
      if (!(await this.commit(fetched, next, outcome.metadata))) return false;
      this.options.onCommitted?.(topic, partition, next);
      this.metrics.kafkaConsumed.inc({ topic, group: this.options.group }, unit.length);
      endTimer();
    }
    if (!ownership.ownsPartition()) return false;
    payload.resolveOffset(String(last.offset));
    assignment.resolved(last);
    return true;
  }

  private async commit(fetched: Fetched, next: bigint, metadata: string | undefined): Promise<boolean> {
    const { payload, assignment, topic, partition, ownership } = fetched;
    const place = { topic: payload.batch.topic, partition };
    const isCommitted = await this.commits.commit({
      payload,
      ...place,
      next,
      metadata,
      isOwned: ownership.ownsPartition,
    });
    if (isCommitted) assignment.markCommitted(topic, partition, next);
    return isCommitted;
  }

  /** Calls the handler. For each PoisonMessage it throws, removes that record and calls it again. */
  private async handle(
    fetched: Fetched,
    unit: readonly ConsumedRecord[],
    committedOffset: bigint | undefined,
    isRefill: boolean,
  ): Promise<BatchOutcome> {
    const thrown: PoisonRecord[] = [];
    let records = unit;
    while (records.length > 0) {
      try {
        const outcome = await this.options.handle(toBatch(fetched, records, committedOffset, isRefill));
        return { ...outcome, poison: [...thrown, ...(outcome?.poison ?? [])] };
      } catch (error) {
        if (!(error instanceof PoisonMessage) || !fetched.ownership.isCurrent()) throw error;
        const { offset } = error.poison.record;
        if (!records.some((record) => record.offset === offset)) throw error;
        thrown.push(error.poison);
        records = records.filter((record) => record.offset !== offset);
      }
    }
    return { poison: thrown };
  }

  private async setAside(unit: readonly ConsumedRecord[], poison: readonly PoisonRecord[]): Promise<void> {
    const { deadLetters } = this.options;
    if (deadLetters) await deadLetters.setAside(unit, poison);
    else if (poison[0]) throw new PoisonMessage(poison[0]);
  }

  /**
   * Decides what an error of the handler means: the batch was lost, an engine is unavailable, or the process must end.
   */
  private async handleFailure({ topic, partition, assignment, ownership }: Fetched, error: unknown): Promise<void> {
    const fields = { err: error, topic, partition };
    if (!ownership.isCurrent()) {
      this.logger.debug(fields, 'a handler stopped a batch that is no longer current');
      return;
    }
    if (unavailableEngine(error) !== undefined || this.options.isRetryable?.(error) === true) {
      await delay(this.countFailure(error), assignment.signal);
      return;
    }
    this.options.fatal(toError(error));
  }

  private countFailure(error: unknown): number {
    const last = this.lastFailure;
    if (last !== undefined && error === last.error) return last.waitMs;
    const waitMs = Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** this.failuresInARow);
    this.lastFailure = { error, waitMs };
    this.failuresInARow = Math.min(this.failuresInARow + 1, 10);
    this.outage.failed(error);
    return waitMs;
  }
}

function toBatch(
  fetched: Fetched,
  records: readonly ConsumedRecord[],
  committedOffset: bigint | undefined,
  isRefill: boolean,
): ConsumedBatch {
  const { topic, partition, assignment, ownership } = fetched;
  return {
    topic,
    partition,
    records,
    committedOffset,
    isRefill,
    isCurrent: ownership.isCurrent,
    async heartbeat() {
      await setImmediate();
      await sendHeartbeat(fetched);
    },
    signal: assignment.signal,
  };
}

/**
 * After the announcement of a rebalance the current unit may still be committed. A failed connection shows at the
 * commit.
 */
async function sendHeartbeat({ payload, assignment }: Fetched): Promise<void> {
  try {
    await payload.heartbeat();
  } catch (error) {
    const type = protocolErrorType(error);
    if (!(error instanceof Error) || type === undefined) return;
    if (LOST.has(type)) assignment.giveUp();
    if (LOST.has(type) || type === 'REBALANCE_IN_PROGRESS') assignment.rejoin = error;
  }
}

export interface DueCommit {
  payload: Pick<EachBatchPayload, 'commitOffsetsIfNecessary'>;
  /** With the prefix. */
  topic: string;
  partition: number;
  next: bigint;
  metadata: string | undefined;
  isOwned: () => boolean;
}

/**
 * Partitions that end in the same moment, or while a request is under way, share a request.
 *
 * It commits through the batch: consumer.commitOffsets() hides the type of the error, by which kafkajs knows that it
 * must join again. The broker refuses a commit of an old generation.
 */
export class OffsetCommits {
  private readonly together = new CallBatcher<DueCommit, boolean>({
    run: commitAll,
    maxGroup: 1_000,
    maxRunning: 1,
    // A coordinator that does not answer would let each request time out in turn.
    isShared: () => true,
  });

  /** False: the partition was lost meanwhile, and nothing is committed. @throws errors of kafkajs */
  commit(due: DueCommit): Promise<boolean> {
    return this.together.call(due);
  }
}

async function commitAll(due: readonly DueCommit[]): Promise<boolean[]> {
  const owned = due.filter(({ isOwned }) => isOwned());
  const byTopic = Map.groupBy(owned, ({ topic }) => topic);
  const topics = [...byTopic].map(([topic, commits]): TopicOffsets => ({
    topic,
    partitions: commits.map(({ partition, next, metadata }) => ({
      partition,
      offset: String(next),
      ...(metadata === undefined ? {} : { metadata }),
    })),
  }));
  await owned[0]?.payload.commitOffsetsIfNecessary({ topics });
  return due.map((one) => owned.includes(one));
}
