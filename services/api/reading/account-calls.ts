import { planOf } from '../../../shared/billing/rules/plans.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Payer } from '../../../shared/forum-client/call-budget.ts';
import type { Upstream } from '../../../shared/forum-client/upstream-client.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../admission/caller.ts';
import { isFaultOfForum } from './reading-route.ts';

export type ForumCalls = Pick<Upstream, 'get' | 'post'>;

/** With this many calls of its account in flight, a request is refused. The burst of the largest plan passes. */
const MAX_IN_FLIGHT = 40;
/** Calls of requests that are not charged, or not charged yet: at most this many at once, and as many a minute. */
const MAX_UNPAID = 200;
const UNPAID_PER_MS = MAX_UNPAID / 60_000;
const SHORT_WAIT_S = 1;

interface Account {
  inFlight: number;
  /** Unpaid calls as of `updatedAt`. They decay at UNPAID_PER_MS. */
  unpaid: number;
  updatedAt: number;
}

/**
 * Limits the forum calls of each account. Failed requests are free, but their calls count: an account is refused for a
 * while when many of its requests fail, or their clients disconnect, after they made calls. So is one with many calls
 * in flight. A request is refused before its first call or not at all, because others may wait for what it fetches.
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
   * Returns the forum client for one request. When accounts ask for more than the reading lane has, they share it in
   * proportion to their plans.
   */
  begin({ accountId, pack }: Pick<Caller, 'accountId' | 'pack'>): RequestCalls {
    return new RequestCalls(this, { id: accountId, weight: planOf(pack).requestsPerSecond });
  }

  /** @throws ApiError rate_limited */
  admit(accountId: string): void {
    const account = this.account(accountId);
    if (account.inFlight >= MAX_IN_FLIGHT) {
      const message = 'Too many requests of this account are waiting for the forum. Try again shortly.';
      throw new ApiError('rate_limited', message, { retryAfter: SHORT_WAIT_S });
    }
    if (account.unpaid > MAX_UNPAID - 1) {
      const retryAfter = Math.ceil((account.unpaid + 1 - MAX_UNPAID) / UNPAID_PER_MS / 1000);
      const message =
        'Too many requests of this account called the forum and then failed or were cancelled. Try again later.';
      throw new ApiError('rate_limited', message, { retryAfter });
    }
  }

  async call(accountId: string, ask: (forum: ForumCalls) => Promise<unknown>): Promise<unknown> {
    const account = this.account(accountId);
    account.unpaid += 1;
    account.inFlight += 1;
    try {
      return await ask(this.forum);
    } finally {
      account.inFlight -= 1;
    }
  }

  /** Releases calls from the unpaid count. */
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
      const added = { inFlight: 0, unpaid: 0, updatedAt: now };
      this.accounts.set(accountId, added);
      return added;
    }
    account.unpaid = Math.max(0, account.unpaid - Math.max(0, now - account.updatedAt) * UNPAID_PER_MS);
    account.updatedAt = now;
    return account;
  }

  /** Stops at the first account that is still active, so that adding an account stays cheap however many there are. */
  private forgetIdle(now: number): void {
    for (const [accountId, { inFlight, unpaid, updatedAt }] of this.accounts) {
      if (inFlight > 0 || unpaid > (now - updatedAt) * UNPAID_PER_MS) return;
      this.accounts.delete(accountId);
    }
  }
}

/** The forum client of one request. It counts the request's calls, except those that the forum failed. */
export class RequestCalls implements ForumCalls {
  private readonly calls: AccountCalls;
  private readonly payer: Payer;
  private isAdmitted = false;
  private unpaid = 0;

  constructor(calls: AccountCalls, payer: Payer) {
    this.calls = calls;
    this.payer = payer;
  }

  get: ForumCalls['get'] = (path, params, call) =>
    this.ask((forum) => forum.get(path, params, { ...call, payer: this.payer }));

  post: ForumCalls['post'] = (path, form, call) =>
    this.ask((forum) => forum.post(path, form, { ...call, payer: this.payer }));

  /** Releases the request's calls from the unpaid count, because the request was charged. */
  markPaid(): void {
    if (this.unpaid > 0) this.calls.pay(this.payer.id, this.unpaid);
    this.unpaid = 0;
  }

  private async ask(ask: (forum: ForumCalls) => Promise<unknown>): Promise<unknown> {
    if (!this.isAdmitted) this.calls.admit(this.payer.id);
    this.isAdmitted = true;
    this.unpaid += 1;
    try {
      return await this.calls.call(this.payer.id, ask);
    } catch (error) {
      // Calls that our own budget refused were never made.
      if (isFaultOfForum(error)) {
        this.unpaid -= 1;
        this.calls.pay(this.payer.id, 1);
      }
      throw error;
    }
  }
}
