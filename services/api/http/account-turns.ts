import { ApiError } from './api-error.ts';

/** Turns that an account has or waits for. */
const MAX_PER_ACCOUNT = 2;
const RETRY_AFTER_S = 1;

/** Bounds how much of some free work an account asks for at a time, so that none keeps the others waiting. */
export class AccountTurns {
  private readonly perAccount = new Map<string, number>();
  private readonly what: string;

  /** @param what the work, as a message names it: `coverage` */
  constructor(what: string) {
    this.what = what;
  }

  /** @throws ApiError rate_limited for a third turn at the same time */
  async take<T>(accountId: string, work: () => Promise<T>): Promise<T> {
    const turns = this.perAccount.get(accountId) ?? 0;
    if (turns >= MAX_PER_ACCOUNT) {
      const message = `This account asks for more ${this.what} than can be computed at once. Wait for the answers.`;
      throw new ApiError('rate_limited', message, { retryAfter: RETRY_AFTER_S });
    }
    this.perAccount.set(accountId, turns + 1);
    try {
      return await work();
    } finally {
      const left = (this.perAccount.get(accountId) ?? 1) - 1;
      if (left > 0) this.perAccount.set(accountId, left);
      else this.perAccount.delete(accountId);
    }
  }
}
