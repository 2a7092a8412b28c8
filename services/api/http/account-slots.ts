import { toError } from '../../../shared/runtime/errors.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import { Semaphore } from '../../../shared/runtime/semaphore.ts';
import { ApiError, engineUnavailable } from './api-error.ts';

export interface AccountSlotsOptions {
  /** What an account may have under way in this process; default 1. */
  perAccount?: number;
  /** What all accounts together may have; default unlimited. */
  atOnce?: number;
  /** The messages of the refusals. */
  busy: string;
  full?: string;
  /** Seconds. */
  retryAfter: number;
}

/** How often a slot is asked for by those who wait. */
const POLL_MS = 100;

/** Refuses work of an account that has enough under way, so that no account takes all that the process can do. */
export class AccountSlots {
  private readonly options: AccountSlotsOptions;
  private readonly taken = new Map<string, number>();
  private total = 0;

  constructor(options: AccountSlotsOptions) {
    this.options = options;
  }

  /**
   * @returns a function that releases the slot; calling it again has no effect
   * @throws ApiError rate_limited when the account has too many under way, service_unavailable when all have
   */
  take(accountId: string): () => void {
    const { perAccount = 1, atOnce = Number.POSITIVE_INFINITY, busy, full = '', retryAfter } = this.options;
    const taken = this.taken.get(accountId) ?? 0;
    if (taken >= perAccount) throw new ApiError('rate_limited', busy, { retryAfter });
    if (this.total >= atOnce) throw new ApiError('service_unavailable', full, { retryAfter });
    this.count(accountId, 1);
    let isTaken = true;
    return () => {
      if (isTaken) this.count(accountId, -1);
      isTaken = false;
    };
  }

  /**
   * Takes a slot as soon as one is free, within so many milliseconds.
   *
   * @throws as `take`; the signal's reason
   */
  async takeWithin(ms: number, accountId: string, signal: AbortSignal | undefined): Promise<() => void> {
    const end = performance.now() + ms;
    for (;;) {
      signal?.throwIfAborted();
      try {
        return this.take(accountId);
      } catch (error) {
        if (performance.now() >= end) throw error;
      }
      await delay(POLL_MS, signal);
    }
  }

  /** @throws as `take`, and what `work` throws */
  async run<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const release = this.take(accountId);
    try {
      return await work();
    } finally {
      release();
    }
  }

  private count(accountId: string, change: number): void {
    this.total += change;
    const left = (this.taken.get(accountId) ?? 0) + change;
    if (left === 0) this.taken.delete(accountId);
    else this.taken.set(accountId, left);
  }
}

/** Two at a time for an account of work that is free for it. @param what the work, as a message names it: `coverage` */
export function freeWorkSlots(what: string): AccountSlots {
  const busy = `Too many requests for ${what} are running for this account. Wait for one to finish.`;
  return new AccountSlots({ perAccount: 2, busy, retryAfter: 1 });
}

/** After each piece of work nothing runs for so many times as long, so that the work takes a quarter of a processor. */
const REST_FACTOR = 3;
const MAX_REST_MS = 2_000;
/** How long work waits for others. The response has to come while its client still waits. */
const MAX_WAIT_MS = 5_000;

/**
 * Runs work that is free for its account but not for the service: one at a time, in the order of arrival, with rests
 * in between. However many accounts ask, the work takes a bounded part of the process and of the database.
 */
export class PacedSemaphore {
  private readonly what: string;
  private readonly accountSlots: AccountSlots;
  private readonly semaphore = new Semaphore(1);

  /** @param what the work, as a message names it: `coverage` */
  constructor(what: string) {
    this.what = what;
    this.accountSlots = freeWorkSlots(what);
  }

  /**
   * @param abandoned aborts when nobody waits for the work any more; it is skipped then, unless it has begun
   * @throws ApiError rate_limited when the account has too much under way; internal_error (503) when the work cannot
   * begin in time
   */
  run<T>(accountId: string, work: () => Promise<T>, abandoned?: AbortSignal): Promise<T> {
    return this.accountSlots.run(accountId, () => this.whenFree(work, abandoned));
  }

  private whenFree<T>(work: () => Promise<T>, abandoned: AbortSignal | undefined): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(engineUnavailable(`Too many requests for ${this.what} are waiting. Try again shortly.`));
    }, MAX_WAIT_MS);
    return new Promise((resolve, reject) => {
      const begin = async (): Promise<void> => {
        clearTimeout(timer);
        const begun = performance.now();
        await work().then(resolve, reject);
        await delay(Math.min(MAX_REST_MS, REST_FACTOR * (performance.now() - begun)));
      };
      const ended = abandoned ? AbortSignal.any([abandoned, late.signal]) : late.signal;
      this.semaphore.run('', begin, ended).catch((error: unknown) => {
        clearTimeout(timer);
        reject(toError(error));
      });
    });
  }
}
