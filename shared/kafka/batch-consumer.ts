import type { Consumer, EachBatchPayload } from 'kafkajs';
import { systemClock } from '../runtime/clock.ts';
import type { Clock } from '../runtime/clock.ts';
import { toError } from '../runtime/errors.ts';
import { withDeadline } from '../runtime/lifecycle.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import { retry } from '../runtime/retry.ts';
import type { AssignmentApi, BatchConsumerDeps } from './batch-consumer-deps.ts';
import { BatchRunner } from './batch-runner.ts';
import { GroupAssignment } from './group-assignment.ts';
import { isKafkaAway } from './kafka-away.ts';
import { protocolErrorType } from './kafka-connection.ts';

export interface BatchConsumer extends Running {
  /**
   * Joined, its offsets known (possibly with no partition at all), and the broker answered a heartbeat within the
   * session.
   */
  ready(): boolean;
  /** When the broker last answered a heartbeat or a join, in milliseconds since the epoch; 0: never. */
  lastActivityMs(): number;
  /** Stops consumption until resume(); a batch in hand turns not current at once, and comes again later. */
  pause(): void;
  resume(): void;
}

const LOADING = new Set(['GROUP_LOAD_IN_PROGRESS', 'GROUP_COORDINATOR_NOT_AVAILABLE']);
const MIB = 1024 * 1024;
/** Shorter than Lifecycle's deadline, so that the reason is ours. A handler that ignores its signal is left behind. */
const STOP_TIMEOUT_MS = 8_000;

/**
 * Consumes topics in batches, at least once: effect first, then the offset is committed. One consumer per workload:
 * kafkajs fetches anew only when every partition's batch is done.
 *
 * @throws when a topic is missing. While no broker answers it waits.
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
 * States: joining → assigned (offsets loaded, onAssigned done) → joining again on every rebalance or reconnect; paused
 * lies across them; halted (stopped or fatal) is final. Each join makes a new GroupAssignment; batches belong to the
 * one that was current when they were handed over.
 */
class GroupConsumer implements BatchConsumer {
  private readonly options: BatchConsumerDeps;
  private readonly logger: Logger;
  private readonly clock: Clock;
  private readonly sessionTimeoutMs: number;
  private readonly consumer: Consumer;
  private readonly runner: BatchRunner;
  private assignment: GroupAssignment | undefined;
  private assigned = false;
  private lastActivity = 0;
  private pauses = 0;
  private isPaused = false;
  private halted = false;
  private readonly stopping = new AbortController();

  constructor(options: BatchConsumerDeps) {
    this.options = options;
    this.logger = options.logger.child({ group: options.group });
    this.clock = options.clock ?? systemClock;
    this.sessionTimeoutMs = options.sessionTimeoutMs ?? 10_000;
    this.consumer = options.kafka.client.consumer({
      groupId: options.prefix + options.group,
      sessionTimeout: this.sessionTimeoutMs,
      // A rebalance waits until every member's next heartbeat tells it to join again.
      heartbeatInterval: 1_000,
      rebalanceTimeout: options.rebalanceTimeoutMs ?? 60_000,
      metadataMaxAge: 60_000,
      allowAutoTopicCreation: false,
      minBytes: 1,
      maxWaitTimeInMs: options.maxWaitMs ?? 300,
      maxBytesPerPartition: MIB,
      maxBytes: 8 * MIB,
      retry: { retries: 10 },
    });
    this.runner = new BatchRunner({
      ...options,
      logger: this.logger,
      clock: this.clock,
      fatal: (error) => {
        this.end(error);
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
      isRetryable: isKafkaAway,
    });
    await this.consumer.subscribe({
      topics: options.topics.map((topic) => options.prefix + topic),
      fromBeginning: options.fromBeginning ?? true,
    });
    await this.consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: options.partitionsConcurrently ?? 1,
      eachBatch: (payload) => this.handleBatch(payload),
    });
  }

  async stop(): Promise<void> {
    this.halted = true;
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
    return this.assigned && !this.halted && this.clock() - this.lastActivity < this.sessionTimeoutMs;
  }

  lastActivityMs(): number {
    return this.lastActivity;
  }

  pause(): void {
    this.pauses++;
    this.isPaused = true;
    if (this.assignment) this.consumer.pause(this.subscribed());
  }

  resume(): void {
    this.isPaused = false;
    if (this.assignment && !this.halted) this.consumer.resume(this.subscribed());
  }

  private subscribed(): { topic: string }[] {
    return this.options.topics.map((topic) => ({ topic: this.options.prefix + topic }));
  }

  private listen(): void {
    const { events } = this.consumer;
    this.consumer.on(events.HEARTBEAT, () => {
      this.lastActivity = this.clock();
    });
    this.consumer.on(events.REBALANCING, () => {
      this.assigned = false;
    });
    this.consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.joined(payload.memberAssignment);
    });
    this.consumer.on(events.CRASH, ({ payload: { error, restart } }) => {
      this.assigned = false;
      this.assignment?.giveUp();
      if (this.halted) return;
      // A broker that has just started is loading its coordinators: no news for an operator.
      const level = LOADING.has(protocolErrorType(error) ?? '') ? 'debug' : 'warn';
      if (restart) this.logger[level]({ err: error }, 'the consumer lost the broker and starts again');
      else if (isKafkaAway(error)) this.startAgain(error);
      else this.end(error);
    });
  }

  /** kafkajs gives up on some conditions that pass, as a coordinator that is nowhere to be found. */
  private startAgain(reason: Error): void {
    this.logger.warn({ err: reason }, 'the consumer lost the broker and is started again');
    const starting = retry(() => this.start(), {
      what: `starting the consumer of ${this.options.group}`,
      logger: this.logger,
      minMs: 1_000,
      signal: this.stopping.signal,
      isRetryable: isKafkaAway,
    });
    starting.catch((error: unknown) => {
      if (!this.halted) this.end(toError(error));
    });
  }

  private joined(memberAssignment: Record<string, number[]>): void {
    this.assignment?.giveUp();
    const partitions = Object.entries(memberAssignment).flatMap(([topic, numbers]) =>
      numbers.map((partition) => ({ topic: topic.slice(this.options.prefix.length), partition })),
    );
    const assignment = new GroupAssignment(partitions);
    this.assignment = assignment;
    this.lastActivity = this.clock();
    // kafkajs forgets pauses when it starts again after a crash.
    if (this.isPaused || this.halted) this.consumer.pause(this.subscribed());
    assignment.ready = this.prepare(assignment);
  }

  private async prepare(assignment: GroupAssignment): Promise<boolean> {
    const { kafka, prefix, group, onAssigned } = this.options;
    const { signal } = assignment;
    try {
      await retry(() => assignment.load(kafka, prefix, group), {
        what: `reading the committed offsets of ${group}`,
        logger: this.logger,
        signal,
      });
      if (assignment.isOver()) return false;
      await onAssigned?.(assignment.partitions, this.assignmentApi(assignment));
    } catch (error) {
      if (!assignment.isOver() && !this.halted) this.end(toError(error));
      return false;
    }
    if (assignment.isOver() || this.halted) return false;
    this.assigned = true;
    this.logger.info({ partitions: assignment.partitions.length }, 'joined the consumer group');
    return true;
  }

  private assignmentApi(assignment: GroupAssignment): AssignmentApi {
    return {
      committed: () => assignment.committed(),
      seek: (topic, partition, offset) => {
        if (assignment !== this.assignment) return;
        const within = assignment.seekTo(topic, partition, offset);
        if (within === undefined) return;
        this.consumer.seek({ topic: this.options.prefix + topic, partition, offset: String(within) });
      },
      signal: assignment.signal,
    };
  }

  /** Returning without having resolved an offset makes kafkajs fetch the same records again. */
  private async handleBatch(payload: EachBatchPayload): Promise<void> {
    const { assignment, pauses } = this;
    if (!assignment) return;
    const ownsPartition = () => assignment === this.assignment && !assignment.isOver() && !this.halted;
    await this.runner.run(payload, assignment, {
      ownsPartition,
      isCurrent: () =>
        ownsPartition() && !this.isPaused && pauses === this.pauses && payload.isRunning() && !payload.isStale(),
    });
  }

  private end(error: Error): void {
    if (this.halted) return;
    this.halted = true;
    this.assigned = false;
    this.assignment?.giveUp();
    if (this.assignment) this.consumer.pause(this.subscribed());
    this.logger.fatal({ err: error }, 'the consumer stops for good');
    this.options.fatal(error);
  }
}
