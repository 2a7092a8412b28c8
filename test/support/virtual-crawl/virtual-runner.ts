import { backOffMs } from '../../../services/crawler/call-loop.ts';
import type { Claim, Taken } from '../../../shared/forum-client/call-budget.ts';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { ForumAnswer } from '../forum-model/forum-reader.ts';
import type { Random } from '../forum-model/random.ts';
import type { EventQueue } from './event-queue.ts';
import type { Outcome } from './network.ts';
import type { VirtualCall, VirtualSource } from './virtual-source.ts';

const MAX_WAIT_MS = 60_000;
/** Time from an answer to the acknowledgement of the broker. */
const PUBLISH_MS = 20;

/** What a runner uses of the process it runs in. */
export interface RunnerHost {
  readonly queue: EventQueue;
  readonly random: Random;
  take: (claim: Claim, now: number) => Taken;
  send: (client: number, call: VirtualCall, done: (outcome: Outcome, now: number) => void) => void;
  published: (call: VirtualCall, answer: ForumAnswer, seenAt: number) => number;
}

/** Makes the calls of one source in virtual time, with the rules of the crawler's CallLoop. */
export class VirtualRunner {
  readonly source: VirtualSource;
  private readonly process: RunnerHost;
  private inFlight = 0;
  private resumeAt = Number.NEGATIVE_INFINITY;
  private failingSince: number | undefined;
  private failedAt = Number.NEGATIVE_INFINITY;
  private wakes = 0;
  private hasEnded = false;

  constructor(source: VirtualSource, process: RunnerHost) {
    this.source = source;
    this.process = process;
  }

  end(): void {
    this.hasEnded = true;
  }

  /** Starts calls as long as the source has some. */
  run(now: number): void {
    while (!this.hasEnded && this.inFlight < this.source.maxInFlight) {
      if (now < this.resumeAt) {
        this.wakeAt(this.resumeAt);
        return;
      }
      const step = this.source.next(now);
      if ('waitMs' in step) {
        this.wakeAt(now + Math.max(1, Math.min(MAX_WAIT_MS, step.waitMs)));
        return;
      }
      this.start(step, now);
    }
  }

  private start(call: VirtualCall, startedAt: number): void {
    const { process } = this;
    const taken = process.take(call, startedAt);
    if (taken.client === undefined) {
      const error = new UpstreamError('busy', 'own budget', { reason: 'own_budget', retryAfterMs: taken.waitMs });
      call.failed(error, startedAt);
      this.resumeAt = Math.max(this.resumeAt, startedAt + Math.max(1, taken.waitMs));
      return;
    }
    this.inFlight += 1;
    process.send(taken.client, call, ({ answer, error }, now) => {
      if (answer === undefined) {
        this.inFlight -= 1;
        this.fail(call, error, now);
        return;
      }
      process.queue.at(now + PUBLISH_MS, (published) => {
        this.inFlight -= 1;
        if (this.hasEnded) return;
        call.succeeded(answer, now, process.published(call, answer, now));
        if (startedAt >= this.failedAt) this.recover();
        this.run(published);
      });
    });
  }

  private fail(call: VirtualCall, error: unknown, now: number): void {
    if (this.hasEnded) return;
    call.failed(error, now);
    this.failingSince ??= now;
    this.failedAt = now;
    const waitMs = backOffMs(error, now - this.failingSince, this.process.random.next());
    this.resumeAt = Math.max(this.resumeAt, now + waitMs);
    this.run(now);
  }

  private recover(): void {
    this.resumeAt = Number.NEGATIVE_INFINITY;
    this.failingSince = undefined;
  }

  private wakeAt(at: number): void {
    this.wakes += 1;
    const wake = this.wakes;
    this.process.queue.at(at, (now) => {
      if (wake === this.wakes) this.run(now);
    });
  }
}
