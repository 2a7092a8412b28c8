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

/** Refuses work of an account that has enough under way, so that no account takes all that the process can do. */
export class AccountSlots {
  private readonly options: AccountSlotsOptions;
  private readonly taken = new Map<string, number>();
  private total = 0;

  constructor(options: AccountSlotsOptions) {
    this.options = options;
  }

  /**
   * @returns what gives the slot back; calling it again has no effect
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
  const busy = `This account asks for more ${what} than can be computed at once. Wait for the answers.`;
  return new AccountSlots({ perAccount: 2, busy, retryAfter: 1 });
}

/** After a turn nobody has one for so many times as long as it took, so that turns take a quarter of a processor. */
const REST = 3;
const LONGEST_REST_MS = 2_000;
/** So long work waits for its turn. The answer has to come while its client still waits. */
const LONGEST_WAIT_MS = 5_000;

/**
 * Gives turns to work that is free for its account but not for the service: one at a time, in the order of arrival,
 * with rests in between. However many accounts ask, the work takes a bounded part of the process and of the database.
 */
export class PacedSemaphore {
  private readonly what: string;
  private readonly ofAccounts: AccountSlots;
  private readonly one = new Semaphore(1);

  /** @param what the work, as a message names it: `coverage` */
  constructor(what: string) {
    this.what = what;
    this.ofAccounts = freeWorkSlots(what);
  }

  /**
   * @param gone aborts when nobody waits for the work any more; it is skipped then, unless its turn has begun
   * @throws ApiError rate_limited when the account waits for too many turns; internal_error (503) when the turn does
   * not come in time
   */
  take<T>(accountId: string, work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    return this.ofAccounts.run(accountId, () => this.whenFree(work, gone));
  }

  private whenFree<T>(work: () => Promise<T>, gone: AbortSignal | undefined): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(
        engineUnavailable(`The service is asked for more ${this.what} than it can compute at once. Retry later.`),
      );
    }, LONGEST_WAIT_MS);
    return new Promise((resolve, reject) => {
      const turn = async (): Promise<void> => {
        clearTimeout(timer);
        const begun = performance.now();
        await work().then(resolve, reject);
        await delay(Math.min(LONGEST_REST_MS, REST * (performance.now() - begun)));
      };
      const ended = gone ? AbortSignal.any([gone, late.signal]) : late.signal;
      this.one.run('', turn, ended).catch((error: unknown) => {
        clearTimeout(timer);
        reject(toError(error));
      });
    });
  }
}
