import { expect, test } from 'vitest';
import { UpstreamError } from '../../../../shared/upstream/upstream-error.ts';

test('an upstream error is not retryable unless its caller says so', () => {
  const error = new UpstreamError('refused', 'the forum answered 403', { status: 403, reason: 'private' });
  expect(error).toMatchObject({ name: 'UpstreamError', failure: 'refused', status: 403, reason: 'private' });
  expect([error.retryable, error.retryAfterMs, error.location]).toEqual([false, undefined, undefined]);
  expect(new UpstreamError('broken', 'x', { retryable: true }).retryable).toBe(true);
});

test('an upstream error keeps its cause, and has none otherwise', () => {
  const cause = new Error('socket hang up');
  expect(new UpstreamError('broken', 'the connection to the forum failed', { cause }).cause).toBe(cause);
  expect('cause' in new UpstreamError('timeout', 'x')).toBe(false);
});
