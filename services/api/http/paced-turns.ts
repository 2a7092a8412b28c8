import { rejectOnAbort } from '../../../shared/runtime/abort.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import { AccountTurns } from './account-turns.ts';
import { engineAway } from './api-error.ts';

/** After a turn nobody has one for so many times as long as it took, so that turns take a quarter of a processor. */
const REST = 3;
const LONGEST_REST_MS = 2_000;
/** So long work waits for its turn. The answer has to come while its client still waits. */
const LONGEST_WAIT_MS = 5_000;

/**
 * Gives turns to work that is free for its account but not for the service: one at a time, in the order of arrival,
 * with rests in between. However many accounts ask, the work takes a bounded part of the process and of the database.
 */
export class PacedTurns {
  private readonly what: string;
  private readonly ofAccounts: AccountTurns;
  private last: Promise<unknown> = Promise.resolve();

  /** @param what the work, as a message names it: `coverage` */
  constructor(what: string) {
    this.what = what;
    this.ofAccounts = new AccountTurns(what);
  }

  /**
   * @param gone aborts when nobody waits for the work any more; it is skipped then, unless its turn has begun
   * @throws ApiError rate_limited when the account waits for too many turns; internal_error (503) when the turn does
   * not come in time
   */
  take<T>(accountId: string, work: () => Promise<T>, gone?: AbortSignal): Promise<T> {
    return this.ofAccounts.take(accountId, () => this.whenFree(work, gone));
  }

  private async whenFree<T>(work: () => Promise<T>, gone: AbortSignal | undefined): Promise<T> {
    const before = this.last;
    const ended = Promise.withResolvers<number>();
    // Also after the turns before it: this one may be given up while they last.
    this.last = before.then(() => ended.promise).then((tookMs) => delay(Math.min(LONGEST_REST_MS, REST * tookMs)));
    let begun: number | undefined;
    try {
      await this.untilFree(before, gone);
      begun = performance.now();
      return await work();
    } finally {
      ended.resolve(begun === undefined ? 0 : performance.now() - begun);
    }
  }

  private async untilFree(before: Promise<unknown>, gone: AbortSignal | undefined): Promise<void> {
    const late = new AbortController();
    const timer = setTimeout(() => {
      late.abort(engineAway(`The service is asked for more ${this.what} than it can compute at once. Retry later.`));
    }, LONGEST_WAIT_MS);
    try {
      await rejectOnAbort(before, gone ? AbortSignal.any([gone, late.signal]) : late.signal);
    } finally {
      clearTimeout(timer);
    }
  }
}
