import { expect, test } from 'vitest';
import { patientUpstream, UpstreamError } from '../../../../shared/forum-client/upstream-error.ts';

const CALL = { endpoint: 'info', lane: 'audit' } as const;
const refused = () => new UpstreamError('busy', 'own budget', { reason: 'own_budget', retryAfterMs: 1 });
const broken = () => new UpstreamError('broken', 'no answer');

/** Answers calls in turn with these outcomes. */
function upstreamOf(...outcomes: (string | UpstreamError)[]) {
  return upstreamWaiting(30_000, ...outcomes);
}

function upstreamWaiting(maxWaitMs: number, ...outcomes: (string | UpstreamError)[]) {
  const next = () => {
    const outcome = outcomes.shift();
    return outcome instanceof UpstreamError ? Promise.reject(outcome) : Promise.resolve(outcome);
  };
  return patientUpstream({ get: next, post: next }, () => maxWaitMs);
}

test('waits for the budget after the first answer, and not before it', async () => {
  const upstream = upstreamOf(refused(), 'first', refused(), refused(), 'second', refused(), 'third', broken());
  const get = () => upstream.get('/comments/a', {}, CALL);
  await expect(get()).rejects.toMatchObject({ reason: 'own_budget' });
  expect(await get()).toBe('first');
  expect(await get()).toBe('second');
  expect(await upstream.post('/api/morechildren', {}, CALL)).toBe('third');
  await expect(get()).rejects.toMatchObject({ failure: 'broken' });
});

test('stops waiting when its source ends', async () => {
  const upstream = upstreamOf('first', refused(), 'never');
  await upstream.get('/comments/a', {}, CALL);
  const ended = { ...CALL, signal: AbortSignal.abort() };
  await expect(upstream.get('/comments/a', {}, ended)).rejects.toMatchObject({ reason: 'own_budget' });
});

test('does not wait once its time is over', async () => {
  const upstream = upstreamWaiting(0, 'first', refused(), 'never');
  await upstream.get('/comments/a', {}, CALL);
  await expect(upstream.get('/comments/a', {}, CALL)).rejects.toMatchObject({ reason: 'own_budget' });
});
