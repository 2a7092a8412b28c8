import { describe, expect, test } from 'vitest';
import { AccountCalls } from '../../../../../services/api/reading/account-calls.ts';
import { ApiError } from '../../../../../services/api/http/api-error.ts';
import type { Payer } from '../../../../../shared/upstream/budget/call-budget.ts';
import { UpstreamError } from '../../../../../shared/upstream/upstream-error.ts';

const CALL = { endpoint: 'x' };

/** A forum that answers when the test tells it to. */
class PausedForum {
  now = 0;
  asked = 0;
  payers: (Payer | undefined)[] = [];
  private readonly open: (() => void)[] = [];
  readonly calls = new AccountCalls({
    forum: {
      get: (_path, _params, { payer }) => this.answerLater(payer),
      post: (_path, _form, { payer }) => this.answerLater(payer),
    },
    clock: () => this.now,
  });

  private answerLater(payer: Payer | undefined): Promise<unknown> {
    this.asked += 1;
    this.payers.push(payer);
    return new Promise((resolve) => this.open.push(() => resolve(this.asked)));
  }

  async answerAll(): Promise<void> {
    for (const answer of this.open.splice(0)) answer();
    await new Promise(setImmediate);
  }

  /** A request that makes calls one after the other. */
  async request(account: string, calls: number, outcome: 'paid' | 'failed', pack = 0): Promise<void> {
    const request = this.calls.begin({ accountId: account, pack });
    for (let call = 0; call < calls; call++) {
      const [answer] = await Promise.allSettled([request.get('/x', {}, CALL), this.answerAll()]);
      if (answer.status === 'rejected') throw answer.reason;
    }
    if (outcome === 'paid') request.markPaid();
  }
}

async function refusal(work: Promise<unknown>): Promise<ApiError> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${String(error)}`);
  return error;
}

describe('AccountCalls', () => {
  test('releases only the counted calls of a request that is paid', async () => {
    const failure = new UpstreamError('broken', 'the forum answered 503', { status: 503 });
    const answer = (path: string) => (path === '/broken' ? Promise.reject(failure) : Promise.resolve({}));
    const calls = new AccountCalls({ forum: { get: answer, post: answer }, clock: () => 0 });
    const begin = () => calls.begin({ accountId: 'a', pack: 0 });
    for (let count = 0; count < 190; count++) await begin().get('/x', {}, CALL);
    const paid = begin();
    for (let count = 0; count < 15; count++) await expect(paid.get('/broken', {}, CALL)).rejects.toBe(failure);
    await paid.get('/x', {}, CALL);
    paid.markPaid();
    for (let count = 0; count < 10; count++) await begin().get('/x', {}, CALL);
    expect(await refusal(begin().get('/x', {}, CALL))).toMatchObject({ code: 'rate_limited' });
  });

  test('refuses the first call of a request while forty calls are in flight', async () => {
    const forum = new PausedForum();
    const waiting = Array.from({ length: 40 }, () =>
      forum.calls.begin({ accountId: 'a', pack: 0 }).get('/x', {}, CALL),
    );
    const refused = await refusal(forum.calls.begin({ accountId: 'a', pack: 0 }).get('/x', {}, CALL));
    expect(refused).toMatchObject({ code: 'rate_limited', retryAfter: 1 });
    const other = forum.calls.begin({ accountId: 'b', pack: 0 }).get('/x', {}, CALL);
    await forum.answerAll();
    await Promise.all([...waiting, other]);
    expect(forum.asked).toBe(41);
  });
});
