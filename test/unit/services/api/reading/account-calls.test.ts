import { describe, expect, test } from 'vitest';
import { AccountCalls } from '../../../../../services/api/reading/account-calls.ts';
import { ApiError } from '../../../../../services/api/http/api-error.ts';
import { UpstreamError } from '../../../../../shared/forum-client/upstream-error.ts';

const CALL = { endpoint: 'x' };

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
    const open: (() => void)[] = [];
    const answer = () => new Promise((resolve) => open.push(() => resolve({})));
    const calls = new AccountCalls({ forum: { get: answer, post: answer }, clock: () => 0 });
    const ask = (accountId: string) => calls.begin({ accountId, pack: 0 }).get('/x', {}, CALL);
    const asked = Array.from({ length: 40 }, () => ask('a'));
    expect(await refusal(ask('a'))).toMatchObject({ code: 'rate_limited', retryAfter: 1 });
    asked.push(ask('b'));
    await new Promise(setImmediate);
    expect(open).toHaveLength(41);
    for (const resolve of open) resolve();
    await Promise.all(asked);
  });
});
