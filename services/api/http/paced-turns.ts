import { delay } from '../../../shared/runtime/clock.ts';
import { AccountTurns } from './account-turns.ts';

/** After a turn nobody has one for so many times as long as it took, so that turns take a quarter of a processor. */
const REST = 3;
const LONGEST_REST_MS = 2_000;

/**
 * Gives turns to work that is free for its account but not for the service: one at a time, in the order of arrival,
 * with rests in between. However many accounts ask, the work takes a bounded part of the process and of the database.
 */
export class PacedTurns {
  private readonly ofAccounts: AccountTurns;
  private last: Promise<unknown> = Promise.resolve();

  /** @param what the work, as a message names it: `coverage` */
  constructor(what: string) {
    this.ofAccounts = new AccountTurns(what);
  }

  /** @throws ApiError rate_limited when the account waits for too many turns */
  take<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    return this.ofAccounts.take(accountId, () => this.whenFree(work));
  }

  private async whenFree<T>(work: () => Promise<T>): Promise<T> {
    const before = this.last;
    const ended = Promise.withResolvers<number>();
    this.last = ended.promise.then((tookMs) => delay(Math.min(LONGEST_REST_MS, REST * tookMs)));
    await before;
    const begun = performance.now();
    try {
      return await work();
    } finally {
      ended.resolve(performance.now() - begun);
    }
  }
}
