import { expect, test } from 'vitest';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';
import { whenBudgetAllows } from '../../../../shared/upstream/when-budget-allows.ts';

const refusal = new UpstreamError('busy', 'used up', { reason: 'own_budget', retryAfterMs: 1 });

/** A call that is refused so many times; counts how often it was made. */
function refused(times: number, error: Error = refusal) {
  let made = 0;
  const make = () => (made++ < times ? Promise.reject(error) : Promise.resolve('answer'));
  return { make, made: () => made };
}

test('repeats a call that our budget refuses until it is allowed', async () => {
  const call = refused(2);
  await expect(whenBudgetAllows(call.make, { maxWaitMs: 1_000 })).resolves.toBe('answer');
  expect(call.made()).toBe(3);
});

test.each([
  ['without time to wait', refusal, { maxWaitMs: 0 }, 1],
  ['after the time to wait', refusal, { maxWaitMs: 60 }, 3],
  ['of the forum', new UpstreamError('busy', 'slow down', { retryAfterMs: 1 }), { maxWaitMs: 1_000 }, 1],
  ['after an abort', refusal, { maxWaitMs: 1_000, signal: AbortSignal.abort() }, 1],
])('throws a refusal %s', async (_, error, options, calls) => {
  const call = refused(9, error);
  await expect(whenBudgetAllows(call.make, options)).rejects.toBe(error);
  expect(call.made()).toBe(calls);
});
