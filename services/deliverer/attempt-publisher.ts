import type { DeliveryAttempt } from '../../schemas/messages/delivery-attempt.ts';
import { MONITOR_DELIVERIES } from '../../schemas/messages/topics.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';

export interface AttemptPublisherDeps {
  publisher: Pick<Publisher, 'publish'>;
  /** Marks attempts in Postgres as acknowledged by the broker. */
  markPublished: (attempts: readonly DeliveryAttempt[]) => Promise<void>;
  /** Reads at most `limit` attempts that were stored a while ago and never marked as published. */
  readUnpublished: (limit: number) => Promise<DeliveryAttempt[]>;
  /** Called with each error. Nothing is lost: the attempts stay unmarked, and the sweep publishes them. */
  onError: (error: unknown) => void;
}

const BATCH = 500;
/** Maximum attempts in the queue; further ones are left to the sweep. */
const QUEUE_LIMIT = 20_000;
const SWEEP_EVERY_MS = 30_000;

/**
 * Publishes stored attempts to monitor.deliveries, then marks them as published.
 *
 * Before: `attemptDelivery` stored the outcome of an attempt. After: the archiver copies monitor.deliveries to
 * ClickHouse. At least once: a crash between publishing and marking, or two processes that sweep at the same time,
 * publish an attempt again; consumers identify attempts by (match, attempt). A crash before publishing leaves the
 * attempt unmarked, and the sweep of any process publishes it.
 */
export class AttemptPublisher implements Running {
  private readonly options: AttemptPublisherDeps;
  private readonly timer: NodeJS.Timeout;
  private queue: DeliveryAttempt[] = [];
  private working: Promise<void> | undefined;
  private isSweepDue = false;

  constructor(options: AttemptPublisherDeps) {
    this.options = options;
    this.timer = setInterval(() => {
      this.sweep();
    }, SWEEP_EVERY_MS);
  }

  /** Queues an attempt for publishing; drops it when the queue is full, because the sweep finds it. */
  add(attempt: DeliveryAttempt): void {
    if (this.queue.length >= QUEUE_LIMIT) return;
    this.queue.push(attempt);
    this.working ??= this.work();
  }

  /** Publishes attempts that a crash or an outage of this or another process left unpublished. */
  sweep(): void {
    this.isSweepDue = true;
    this.working ??= this.work();
  }

  /** Resolves when all added attempts are published or left to the sweep of another process. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.isSweepDue = false;
    await this.working;
  }

  private async work(): Promise<void> {
    try {
      while (this.queue.length > 0 || this.isSweepDue) {
        if (this.queue.length > 0) await this.publish(this.queue.splice(0, BATCH));
        else await this.sweepOnce();
      }
    } catch (error) {
      this.queue = [];
      this.isSweepDue = false;
      this.options.onError(error);
    } finally {
      this.working = undefined;
    }
  }

  private async sweepOnce(): Promise<void> {
    const left = await this.options.readUnpublished(BATCH);
    if (left.length < BATCH) this.isSweepDue = false;
    await this.publish(left);
  }

  private async publish(attempts: readonly DeliveryAttempt[]): Promise<void> {
    if (attempts.length === 0) return;
    await this.options.publisher.publish(
      MONITOR_DELIVERIES.name,
      attempts.map((attempt) => ({ key: attempt.monitor_id, value: JSON.stringify(attempt) })),
    );
    await this.options.markPublished(attempts);
  }
}
