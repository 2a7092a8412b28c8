import type { Consumer, EachBatchPayload } from 'kafkajs';
import { delay, systemClock } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import { toError } from '../runtime/errors.ts';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { retry } from '../runtime/retry.ts';
import type { AssignmentApi, BatchConsumerDeps } from './batch-runner.ts';
import { BatchRunner } from './batch-runner.ts';
import { TooManyDeadLetters } from './dead-letters.ts';
import type { HaltPosition } from './dead-letters.ts';
import { GroupAssignment, readCommitted } from './group-assignment.ts';
import type { CommittedBefore } from './group-assignment.ts';
import { isKafkaUnavailable } from './kafka-unavailable.ts';
import { protocolErrorType } from './kafka-connection.ts';

export interface BatchConsumer extends Running {
  /** It has joined, its offsets are loaded, and the broker answers its heartbeats. */
  ready(): boolean;
  /**
   * It was handed too many malformed records, and is out of its group apart from a try every minute, so that `admin
   * dead-letters set-aside` can move the offset.
   */
  isHalted(): boolean;
  /** Stops consumption until resume(). The current batch is no longer current at once, and is repeated later. */
  pause(): void;
  resume(): void;
}

const LOADING = new Set(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE']);
const MIB = 1024 * 1024;
const RESTART_MS = 1_000;
/** Meanwhile the group has no member, which a change of its offsets needs. */
const HALT_MS = 60_000;
/** Shorter than Lifecycle's deadline, so that our message is logged. */
const STOP_TIMEOUT_MS = 8_000;

/**
 * Consumes topics in batches, at least once: effect first, then the offset commit. Waits while no broker answers.
 *
 * @throws when a topic is missing, or when `startSignal` is aborted meanwhile
 */
export async function startBatchConsumer(options: BatchConsumerDeps): Promise<BatchConsumer> {
  const consumer = new GroupConsumer(options);
  try {
    await consumer.start();
  } catch (error) {
    await consumer.stop().catch(() => undefined);
    throw error;
  }
  return consumer;
}

/**
 * States: joining → assigned (offsets loaded, onAssigned done) → joining again on each rebalance or reconnect; halted
 * (out of the group for a minute, then joining) by malformed records; ended (stopped or fatal) is final. It can be
 * paused in each. A batch belongs to the GroupAssignment that was current when kafkajs delivered it.
 */
class GroupConsumer implements BatchConsumer {
  private readonly options: BatchConsumerDeps;
  private readonly logger: Logger;
  private readonly clock: Clock;
  private readonly sessionTimeoutMs: number;
  private readonly consumer: Consumer;
  private readonly runner: BatchRunner;
  private assignment: GroupAssignment | undefined;
  private isLost = false;
  private assigned = false;
  /** False from the end of kafkajs's group, as in a crash, until it has joined again: there is nothing to pause. */
  private hasGroup = false;
  private lastActivity = 0;
  private pauses = 0;
  private isPaused = false;
  private ended = false;
  private committedBefore: CommittedBefore | undefined;
  /** What halted it. */
  private halt: HaltPosition | undefined;
  /** Out of the group because of it. */
  private isAside = false;
  private readonly stopping = new AbortController();

  constructor(options: BatchConsumerDeps) {
    this.options = options;
    options.startSignal?.addEventListener('abort', () => {
      this.stopping.abort();
    });
    this.logger = options.logger.child({ group: options.group });
    this.clock = options.clock ?? systemClock;
    this.sessionTimeoutMs = options.sessionTimeoutMs ?? 10_000;
    this.consumer = options.kafka.client.consumer({
      groupId: options.prefix + options.group,
      sessionTimeout: this.sessionTimeoutMs,
      // A rebalance waits until each member's next heartbeat, by which the member learns that it must join again.
      heartbeatInterval: 1_000,
      rebalanceTimeout: options.rebalanceTimeoutMs ?? 60_000,
      metadataMaxAge: 60_000,
      allowAutoTopicCreation: false,
      minBytes: options.gather?.bytes ?? 1,
      maxWaitTimeInMs: options.gather?.ms ?? 300,
      maxBytesPerPartition: MIB,
      maxBytes: 8 * MIB,
      retry: { retries: 10, restartOnFailure: () => Promise.resolve(!this.ended && !this.isAside) },
    });
    this.runner = new BatchRunner({
      ...options,
      logger: this.logger,
      clock: this.clock,
      fatal: (error) => {
        if (error instanceof TooManyDeadLetters) this.stepAside(error);
        else this.end(error);
      },
      onCommitted: (topic, partition, next) => {
        if (topic === this.halt?.topic && partition === this.halt.partition) this.passHalt(next);
        options.onCommitted?.(topic, partition, next);
      },
    });
    this.listen();
  }

  async start(): Promise<void> {
    const { options } = this;
    await retry(() => this.consumer.connect(), {
      what: `connecting the consumer of ${options.group}`,
      logger: this.logger,
      signal: this.stopping.signal,
      isRetryable: isKafkaUnavailable,
    });
    await this.consumer.subscribe({
      topics: options.topics.map((topic) => options.prefix + topic),
      fromBeginning: options.fromBeginning ?? true,
    });
    if (this.stopping.signal.aborted) await this.consumer.disconnect();
    this.stopping.signal.throwIfAborted();
    this.committedBefore = await retry(() => readCommitted(options.kafka, options), {
      what: `reading the committed offsets of ${options.group}`,
      logger: this.logger,
      signal: this.stopping.signal,
    });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: options.partitionsConcurrently ?? 1,
      eachBatch: (payload) => this.handleBatch(payload),
    });
  }

  async stop(): Promise<void> {
    this.ended = true;
    this.stopping.abort();
    this.assigned = false;
    this.assignment?.giveUp();
    await withDeadline(
      this.consumer.disconnect(),
      STOP_TIMEOUT_MS,
      `${this.options.group}: a handler did not end at stop`,
    );
  }

  ready(): boolean {
    return this.assigned && !this.halt && !this.ended && this.clock() - this.lastActivity < this.sessionTimeoutMs;
  }

  isHalted(): boolean {
    return this.halt !== undefined;
  }

  pause(): void {
    this.pauses++;
    this.isPaused = true;
    if (this.hasGroup) this.consumer.pause(this.subscribed());
  }

  resume(): void {
    this.isPaused = false;
    if (this.hasGroup && !this.ended) this.consumer.resume(this.subscribed());
  }

  private subscribed(): { topic: string }[] {
    return this.options.topics.map((topic) => ({ topic: this.options.prefix + topic }));
  }

  private listen(): void {
    const { events } = this.consumer;
    this.consumer.on(events.HEARTBEAT, () => {
      this.lastActivity = this.clock();
    });
    this.consumer.on(events.FETCH, () => this.options.onFetched?.());
    this.consumer.on(events.REBALANCING, () => {
      this.assigned = false;
    });
    // Comes before CRASH, with a disconnection in between.
    this.consumer.on(events.STOP, () => {
      this.hasGroup = false;
      this.assigned = false;
      this.assignment?.giveUp();
    });
    this.consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.joined(payload.memberAssignment);
    });
    this.consumer.on(events.CRASH, ({ payload: { error, restart } }) => {
      this.assigned = false;
      this.assignment?.giveUp();
      if (this.ended || this.isAside) return;
      // A broker that has just started loads its coordinators; operators need not see that.
      const level = LOADING.has(protocolErrorType(error) ?? '') ? 'debug' : this.levelOfLoss();
      if (restart) this.logger[level]({ err: error }, 'the consumer lost the broker and reconnects');
      else if (isKafkaUnavailable(error)) {
        // kafkajs gives up on some temporary conditions, such as a missing coordinator.
        this.logger[this.levelOfLoss()]({ err: error }, 'the consumer lost the broker and restarts');
        this.startAfter(RESTART_MS);
      } else this.end(error);
    });
  }

  private startAfter(waitMs: number): void {
    const { signal } = this.stopping;
    const begin = () =>
      retry(() => this.start(), {
        what: `starting the consumer of ${this.options.group}`,
        logger: this.logger,
        minMs: RESTART_MS,
        signal,
        isRetryable: isKafkaUnavailable,
      });
    // A start may succeed, and its consumer crash at once, again and again.
    const starting = delay(waitMs, signal).then(() => {
      this.isAside = false;
      return begin();
    });
    starting.catch((error: unknown) => {
      if (!this.ended) this.end(toError(error));
    });
  }

  /** Leaves the group, and tries again later: a newer release may read the records, or somebody set them aside. */
  private stepAside(error: TooManyDeadLetters): void {
    if (this.ended || this.isAside) return;
    const { group } = this.options;
    const { topic, partition, offset, next } = error.position;
    const isKnown = this.halt?.topic === topic && this.halt.partition === partition && this.halt.offset === offset;
    this.halt = error.position;
    this.isAside = true;
    this.assigned = false;
    this.assignment?.giveUp();
    this.options.metrics.kafkaConsumerHalted.set({ group }, 1);
    const command = `admin dead-letters set-aside --group ${group} --topic ${topic} --partition ${partition} --to ${next}`;
    this.logger[isKnown ? 'debug' : 'error'](
      { err: error, topic, partition, offset: String(offset), command },
      'the consumer stops at records that it cannot read; deploy a release that can read them, or set them aside with the command',
    );
    // Not awaited: it ends after the handler that called this. It logs its own errors.
    void this.consumer
      .disconnect()
      .catch(() => undefined)
      .then(() => {
        this.startAfter(this.options.haltMs ?? HALT_MS);
      });
  }

  /** @param next the group's next offset of the partition at which it halted; undefined: another process owns it */
  private passHalt(next: bigint | undefined): void {
    if (this.halt === undefined || (next !== undefined && next <= this.halt.offset)) return;
    this.halt = undefined;
    this.options.metrics.kafkaConsumerHalted.set({ group: this.options.group }, 0);
    this.logger.info('the group has passed the records that halted it');
  }

  /** One warning for each time without the broker; `prepare` logs its end. */
  private levelOfLoss(): 'warn' | 'debug' {
    const level = this.isLost ? 'debug' : 'warn';
    this.isLost = true;
    return level;
  }

  private joined(memberAssignment: Record<string, number[]>): void {
    this.assignment?.giveUp();
    // A join that is answered after the stop: kafkajs leaves the group again, and has nothing to pause.
    if (this.stopping.signal.aborted) return;
    const partitions = Object.entries(memberAssignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic: topic.slice(this.options.prefix.length), partition })),
    );
    const assignment = new GroupAssignment(partitions);
    this.assignment = assignment;
    this.hasGroup = true;
    this.lastActivity = this.clock();
    // kafkajs loses pauses when it restarts after a crash.
    if (this.isPaused || this.ended) this.consumer.pause(this.subscribed());
    assignment.ready = this.prepare(assignment);
  }

  private async prepare(assignment: GroupAssignment): Promise<boolean> {
    const { kafka, prefix, group, onAssigned } = this.options;
    const { signal } = assignment;
    try {
      await retry(() => assignment.load(kafka, prefix, group, this.committedBefore), {
        what: `reading the committed offsets of ${group}`,
        logger: this.logger,
        signal,
      });
      if (assignment.isOver()) return false;
      this.committedBefore = undefined;
      await onAssigned?.(assignment.partitions, this.assignmentApi(assignment));
    } catch (error) {
      if (!assignment.isOver() && !this.ended) this.end(toError(error));
      return false;
    }
    if (assignment.isOver() || this.ended) return false;
    if (this.halt) this.passHalt(assignment.nextOffset(this.halt.topic, this.halt.partition));
    this.assigned = true;
    this.isLost = false;
    this.logger.info({ partitions: assignment.partitions.length }, 'joined the consumer group');
    return true;
  }

  private assignmentApi(assignment: GroupAssignment): AssignmentApi {
    return {
      committed: () => assignment.committed(),
      seek: (topic, partition, offset) => {
        if (assignment !== this.assignment || !this.hasGroup) return;
        const within = assignment.seekTo(topic, partition, offset);
        if (within === undefined) return;
        this.consumer.seek({ topic: this.options.prefix + topic, partition, offset: String(within) });
      },
      signal: assignment.signal,
    };
  }

  /** If it returns without resolving an offset, kafkajs fetches the same records again. */
  private async handleBatch(payload: EachBatchPayload): Promise<void> {
    const { assignment, pauses } = this;
    if (!assignment) return;
    const ownsPartition = () => assignment === this.assignment && !assignment.isOver() && !this.ended;
    await this.runner.run(payload, assignment, {
      ownsPartition,
      isCurrent: () =>
        ownsPartition() && !this.isPaused && pauses === this.pauses && payload.isRunning() && !payload.isStale(),
    });
  }

  private end(error: Error): void {
    if (this.ended) return;
    this.ended = true;
    this.assigned = false;
    this.assignment?.giveUp();
    if (this.hasGroup) this.consumer.pause(this.subscribed());
    this.logger.fatal({ err: error }, 'the consumer stops permanently');
    this.options.fatal(error);
  }
}
