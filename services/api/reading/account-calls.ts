import { planOf } from '../../../shared/domain/accounts/plans.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Payer } from '../../../shared/upstream/budget/call-budget.ts';
import type { Upstream } from '../../../shared/upstream/upstream-client.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../admission/authentication.ts';
import { isTrouble } from './reading-failure.ts';

export type ForumCalls = Pick<Upstream, 'get' | 'post'>;

/**
 * So many calls may be under way for an account when a request of it makes its first one: the burst of the largest plan
 * is let in.
 */
const MOST_IN_FLIGHT = 40;
/** Calls of requests that were not charged, or not yet: so many at once, and as many a minute. */
const MOST_UNPAID = 200;
const UNPAID_PER_MS = MOST_UNPAID / 60_000;
const SHORT_WAIT_S = 1;

interface Account {
  inFlight: number;
  /** Calls that nobody paid for, as of `at`; they are forgotten at the rate of UNPAID_PER_MS. */
  unpaid: number;
  at: number;
}

/**
 * What accounts cost the forum. Failed requests are free, but their calls count: an account whose requests fail, or are
 * given up, after they made calls is refused for a while, and so is one with many calls under way. A request is refused
 * before its first call or not at all, because others may wait for what it fetches.
 */
export class AccountCalls {
  private readonly accounts = new Map<string, Account>();
  private readonly forum: ForumCalls;
  private readonly clock: Clock;

  constructor({ forum, clock }: { forum: ForumCalls; clock: Clock }) {
    this.forum = forum;
    this.clock = clock;
  }

  /**
   * The calls of one request. Accounts that want more than readers have share it in proportion to what their plans
   * allow.
   */
  begin({ accountId, pack }: Pick<Caller, 'accountId' | 'pack'>): RequestCalls {
    return new RequestCalls(this, { id: accountId, weight: planOf(pack).requestsPerSecond });
  }

  /** @throws ApiError rate_limited */
  admit(accountId: string): void {
    const account = this.account(accountId);
    if (account.inFlight >= MOST_IN_FLIGHT) {
      const message = 'Too many requests of this account are waiting for the forum.';
      throw new ApiError('rate_limited', message, { retryAfter: SHORT_WAIT_S });
    }
    if (account.unpaid > MOST_UNPAID - 1) {
      const retryAfter = Math.ceil((account.unpaid + 1 - MOST_UNPAID) / UNPAID_PER_MS / 1000);
      const message = 'Too many requests of this account asked the forum and failed or were given up.';
      throw new ApiError('rate_limited', message, { retryAfter });
    }
  }

  async call(accountId: string, ask: (forum: ForumCalls) => Promise<unknown>): Promise<unknown> {
    const account = this.account(accountId);
    account.unpaid += 1;
    account.inFlight += 1;
    try {
      return await ask(this.forum);
    } catch (error) {
      // What the forum failed at is not the account's doing; what our own budget refused was no call.
      if (isTrouble(error)) account.unpaid -= 1;
      throw error;
    } finally {
      account.inFlight -= 1;
    }
  }

  pay(accountId: string, calls: number): void {
    const account = this.account(accountId);
    account.unpaid = Math.max(0, account.unpaid - calls);
    if (account.unpaid === 0 && account.inFlight === 0) this.accounts.delete(accountId);
  }

  private account(accountId: string): Account {
    const now = this.clock();
    const account = this.accounts.get(accountId);
    if (account === undefined) {
      this.forgetIdle(now);
      const added = { inFlight: 0, unpaid: 0, at: now };
      this.accounts.set(accountId, added);
      return added;
    }
    account.unpaid = Math.max(0, account.unpaid - Math.max(0, now - account.at) * UNPAID_PER_MS);
    account.at = now;
    return account;
  }

  /** The oldest ones only, so that a new account costs little however many there are. */
  private forgetIdle(now: number): void {
    for (const [accountId, { inFlight, unpaid, at }] of this.accounts) {
      if (inFlight > 0 || unpaid > (now - at) * UNPAID_PER_MS) return;
      this.accounts.delete(accountId);
    }
  }
}

/** The forum as one request asks it. */
export class RequestCalls implements ForumCalls {
  private readonly calls: AccountCalls;
  private readonly payer: Payer;
  private made = 0;

  constructor(calls: AccountCalls, payer: Payer) {
    this.calls = calls;
    this.payer = payer;
  }

  get: ForumCalls['get'] = (path, params, call) =>
    this.ask((forum) => forum.get(path, params, { ...call, payer: this.payer }));

  post: ForumCalls['post'] = (path, form, call) =>
    this.ask((forum) => forum.post(path, form, { ...call, payer: this.payer }));

  /** The request was charged. */
  paid(): void {
    if (this.made > 0) this.calls.pay(this.payer.id, this.made);
  }

  private async ask(ask: (forum: ForumCalls) => Promise<unknown>): Promise<unknown> {
    if (this.made === 0) this.calls.admit(this.payer.id);
    this.made += 1;
    return this.calls.call(this.payer.id, ask);
  }
}
