import { afterEach, expect, test, vi } from 'vitest';
import { REQUEST_LIMITS } from '../../../../shared/postgres/pool.ts';
import { LAST_COMMIT_MS, ServerTime } from '../../../../shared/postgres/server-time.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('the deadline is known for a second after an answer of the server, in its own time', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const time = new ServerTime();
  expect(time.deadline()).toBeUndefined();
  time.heard({ ms: 5_000, server: 7 }, 500);
  expect(time.deadline()).toEqual({ ms: 6_500, server: 7 });
  vi.advanceTimersByTime(1_000);
  expect(time.deadline()).toEqual({ ms: 6_500, server: 7 });
  vi.advanceTimersByTime(1);
  expect(time.deadline()).toBeUndefined();
  time.heard({ ms: 1_000, server: 8 }, 0);
  expect(time.deadline()).toEqual({ ms: 2_500, server: 8 });
});

test('an answer that took long tells nothing', () => {
  const time = new ServerTime();
  time.heard({ ms: 5_000, server: 7 }, 501);
  expect(time.deadline()).toBeUndefined();
});

test('the last commit comes before the request is answered as failed', () => {
  expect(LAST_COMMIT_MS).toBeLessThan(REQUEST_LIMITS.answerMs - 1_000);
});
