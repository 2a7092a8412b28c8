import type { DeliveryAttempt } from '../../schemas/messages/delivery-attempt.ts';
import { MONITOR_DELIVERIES } from '../../schemas/messages/topics.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';

export interface AttemptPublisherDeps {
  publisher: Pick<Publisher, 'publish'>;
  /** Marks attempts as acknowledged by the broker. */
  markPublished: (attempts: readonly DeliveryAttempt[]) => Promise<void>;
  /** Attempts that were stored a while ago and never marked, at most `limit`. */
  readUnpublished: (limit: number) => Promise<DeliveryAttempt[]>;
  /** Nothing is lost by an error: the attempts stay unmarked, and the sweep publishes them. */
  onError: (error: unknown) => void;
  sweepEveryMs?: number;
}

const BATCH = 500;
/** Attempts waiting beyond this many are left to the sweep. */
const QUEUE_LIMIT = 20_000;
const SWEEP_EVERY_MS = 30_000;

/**
 * Tells monitor.deliveries about stored attempts, then marks them. At least once: a crash between the two, or two
 * processes that sweep at once, publish an attempt again, and readers tell attempts apart by (match, attempt).
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
    }, options.sweepEveryMs ?? SWEEP_EVERY_MS);
  }

  add(attempt: DeliveryAttempt): void {
    if (this.queue.length >= QUEUE_LIMIT) return;
    this.queue.push(attempt);
    this.working ??= this.work();
  }

  /** Publishes what a crash or an outage left behind, in this process or another. */
  sweep(): void {
    this.isSweepDue = true;
    this.working ??= this.work();
  }

  /** Resolves when what was added is published or left to the sweep. */
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
