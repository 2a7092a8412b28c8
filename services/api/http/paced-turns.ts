import { delay } from '../../../shared/runtime/clock.ts';
import { ApiError } from './api-error.ts';

/** Turns that an account may wait for, with the one that it has. */
const MAX_PER_ACCOUNT = 2;
const RETRY_AFTER_S = 1;
/** After a turn nobody has one for so many times as long as it took, so that turns take a quarter of a processor. */
const REST = 3;
const LONGEST_REST_MS = 2_000;

/**
 * Gives turns to work that is free for its account but not for the service: one at a time, in the order of arrival,
 * with rests in between. However many accounts ask, the work takes a bounded part of the process and of the database.
 */
export class PacedTurns {
  private readonly perAccount = new Map<string, number>();
  private readonly what: string;
  private last: Promise<unknown> = Promise.resolve();

  /** @param what the work, as a message names it: `coverage` */
  constructor(what: string) {
    this.what = what;
  }

  /** @throws ApiError rate_limited when the account waits for too many turns */
  async take<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const turns = this.perAccount.get(accountId) ?? 0;
    if (turns >= MAX_PER_ACCOUNT) {
      const message = `This account asks for more ${this.what} than can be computed at once. Wait for the answers.`;
      throw new ApiError('rate_limited', message, { retryAfter: RETRY_AFTER_S });
    }
    this.perAccount.set(accountId, turns + 1);
    try {
      return await this.whenFree(work);
    } finally {
      const left = (this.perAccount.get(accountId) ?? 1) - 1;
      if (left > 0) this.perAccount.set(accountId, left);
      else this.perAccount.delete(accountId);
    }
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
