import { isClickhouseUnavailable } from '../../shared/clickhouse/clickhouse-unavailable.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import { isOwnBudgetRefusal, UpstreamError } from '../../shared/forum-client/upstream-error.ts';
import type { Call, CrawlSource, Fetched } from './crawl-source.ts';
import type { FailureLog } from './failure-log.ts';

/** A source without a call is asked again after this time at the latest. */
const MAX_WAIT_MS = 60_000;
/** A source without a call for this long, because the budget is used up, is reported as short of budget. */
const SHORT_OF_BUDGET_MS = 30_000;

/** How often a loop that may not call asks again. */
const PAUSED_MS = 1_000;

/** With a scarce budget at most about one call of a patient source in four is refused, not all that are in flight. */
const SLOTS_PER_SUCCESS = 0.25;

interface CallLoopDeps {
  /** Resolves when the broker has every item. */
  publish: (fetched: Fetched, signal: AbortSignal) => Promise<void>;
  /** Called after each acknowledgement. */
  onMoved: () => void;
  /** Called when the source has no call to make now, or its call waits for ClickHouse. */
  onIdle: () => void;
  /** Called when the budget leaves the source no calls for 30 s, and when it has calls again. */
  onShortOfBudget: (isShort: boolean) => void;
  /** False while nothing may be crawled; default: always true. */
  mayCall?: (() => boolean) | undefined;
  /** Whether the source makes fewer calls at once after a refusal by our budget. Live sources must not. */
  isPatient: boolean;
  /** Shared by all sources of a process. */
  failures: Pick<FailureLog, 'failed' | 'succeeded'>;
  clock: Clock;
  /** Returns a number in [0, 1), for jitter. */
  random: () => number;
}

/**
 * Makes the calls of one source, up to its `maxInFlight` at once. After a failure no call starts until the back-off has
 * passed, or a later call succeeds. A call that our own budget refuses is no failure: it starts when the budget allows.
 */
export class CallLoop {
  private readonly source: CrawlSource;
  private readonly deps: CallLoopDeps;
  private readonly inFlight = new Set<Promise<void>>();
  private resumeAt = Number.NEGATIVE_INFINITY;
  private failingSince: number | undefined;
  /** The last failure was the forum's. */
  private isForumFailing = false;
  private failedAt = Number.NEGATIVE_INFINITY;
  private refusedSince: number | undefined;
  private isShort = false;
  /** How many calls a patient source may have in flight: 1 after a refusal by our budget, more after each success. */
  private slots = Infinity;
  private ending: 'done' | { unexpected: unknown } | undefined;
  /** Aborting it ends the wait for the next start. */
  private wake = new AbortController();

  constructor(source: CrawlSource, deps: CallLoopDeps) {
    this.source = source;
    this.deps = deps;
  }

  /** True from a failure until the next success. */
  get isFailing(): boolean {
    return this.failingSince !== undefined;
  }

  /**
   * Resolves when the source is done or the signal aborts, and no call is in flight. Rejects with the first unexpected
   * error.
   */
  async run(signal: AbortSignal): Promise<'done' | 'ended'> {
    const failed = new AbortController();
    const running = AbortSignal.any([signal, failed.signal]);
    const wakeUp = (): void => {
      this.wake.abort();
    };
    running.addEventListener('abort', wakeUp, { once: true });
    this.ending = undefined;
    while (!running.aborted && this.hasMore()) {
      this.wake = new AbortController();
      const waitMs = this.start(running);
      if (waitMs > 0) await delay(Math.min(waitMs, MAX_WAIT_MS), this.wake.signal);
    }
    failed.abort();
    await Promise.all(this.inFlight);
    return this.outcome();
  }

  private hasMore(): boolean {
    return this.ending === undefined;
  }

  private outcome(): 'done' | 'ended' {
    if (this.ending === undefined) return 'ended';
    if (this.ending !== 'done') throw this.ending.unexpected;
    return 'done';
  }

  /** Counts a failure outside the calls (Postgres is unavailable on standby) and returns the milliseconds to wait. */
  noteFailure(error: unknown): number {
    const { clock, random, failures } = this.deps;
    const now = clock();
    this.failingSince ??= now;
    this.failedAt = now;
    this.isForumFailing = error instanceof UpstreamError;
    const waitMs = backOffMs(error, now - this.failingSince, random());
    failures.failed(this.source.name, error, { waitMs: Math.round(waitMs) });
    return waitMs;
  }

  /** Ends the phase of failures. */
  noteSuccess(): void {
    this.resumeAt = Number.NEGATIVE_INFINITY;
    this.failingSince = undefined;
    this.deps.failures.succeeded(this.source.name);
  }

  /** Starts one call if the source has one; returns the milliseconds until it should be asked again. */
  private start(signal: AbortSignal): number {
    const now = this.deps.clock();
    if (this.inFlight.size >= Math.min(this.source.maxInFlight, Math.floor(this.slots))) return MAX_WAIT_MS;
    if (this.deps.mayCall?.() === false) {
      this.deps.onIdle();
      return PAUSED_MS;
    }
    if (now < this.resumeAt) return this.resumeAt - now;
    const step = this.source.next(now);
    // A wait of 0 would keep the event loop busy forever.
    if ('waitMs' in step) {
      if (this.inFlight.size === 0) this.deps.onIdle();
      return Math.max(1, step.waitMs);
    }
    const running: Promise<void> = this.makeCall(step, now, signal)
      .catch((error: unknown) => {
        if (this.ending === undefined || this.ending === 'done') this.ending = { unexpected: error };
      })
      .finally(() => {
        this.inFlight.delete(running);
        this.wake.abort();
      });
    this.inFlight.add(running);
    return 0;
  }

  private async makeCall(call: Call, startedAt: number, signal: AbortSignal): Promise<void> {
    let fetched: Fetched;
    try {
      fetched = await call.fetch(signal);
      await this.deps.publish(fetched, signal);
    } catch (error) {
      call.failed(error);
      this.afterFailure(error, signal);
      return;
    }
    fetched.acknowledged();
    this.deps.onMoved();
    const isLocal = fetched.isLocal === true;
    if (!isLocal) {
      this.noteBudget(false);
      this.slots += SLOTS_PER_SUCCESS;
    }
    // A call from before a failure says nothing about the forum now, nor does one that did not ask it.
    if (startedAt >= this.failedAt && !(isLocal && this.isForumFailing)) this.noteSuccess();
    if (fetched.done === true) this.ending ??= 'done';
  }

  /** Rethrows an unexpected error. */
  private afterFailure(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) return;
    const now = this.deps.clock();
    if (isOwnBudgetRefusal(error)) {
      this.noteBudget(true);
      if (this.deps.isPatient) this.slots = 1;
      this.resumeAt = Math.max(this.resumeAt, now + (error.retryAfterMs ?? 0));
      return;
    }
    if (!isExpectedFailure(error)) throw error;
    if (isClickhouseUnavailable(error)) this.deps.onIdle();
    this.resumeAt = Math.max(this.resumeAt, now + this.noteFailure(error));
  }

  private noteBudget(isRefused: boolean): void {
    const now = this.deps.clock();
    if (!isRefused) this.refusedSince = undefined;
    else this.refusedSince ??= now;
    const isShort = this.refusedSince !== undefined && now - this.refusedSince >= SHORT_OF_BUDGET_MS;
    if (isShort === this.isShort) return;
    this.isShort = isShort;
    this.deps.onShortOfBudget(isShort);
  }
}

/** Whether the forum or an engine does not answer. Any other error ends the process. */
export function isExpectedFailure(error: unknown): boolean {
  return error instanceof UpstreamError || isPostgresUnavailable(error) || isClickhouseUnavailable(error);
}

const MIN_MS = 250;
const MAX_MS = 30_000;
const MAX_JITTERED_MS = 8_000;
/** While the forum refuses us, frequent retries cannot succeed and may prolong the block. */
const REFUSED_MIN_MS = 5_000;

/**
 * Returns the milliseconds to wait after a failure: a quarter of the time that the outage has lasted, at most 30 s. So
 * recovery is noticed after at most 1.25 times the length of the outage. The forum's Retry-After is a lower bound.
 * Jitter of up to a quarter, at most 2 s, is added and never subtracted. `random` is in [0, 1).
 */
export function backOffMs(error: unknown, failingForMs: number, random: number): number {
  const isRefused = error instanceof UpstreamError && error.failure === 'refused';
  const minimum = Math.max(
    isRefused ? REFUSED_MIN_MS : MIN_MS,
    error instanceof UpstreamError ? (error.retryAfterMs ?? 0) : 0,
  );
  const wait = Math.max(minimum, Math.min(MAX_MS, failingForMs / 4));
  return wait + (random * Math.min(MAX_JITTERED_MS, wait)) / 4;
}
