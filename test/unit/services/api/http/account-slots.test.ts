import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PacedSemaphore } from '../../../../../services/api/http/account-slots.ts';
import { delay } from '../../../../../shared/runtime/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('work whose turn does not come within five seconds is given up, and nothing runs beside another', async () => {
  const turns = new PacedSemaphore('coverage');
  let running = 0;
  let most = 0;
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await delay(10_000);
    running -= 1;
  };
  const first = turns.take('acc_a', work);
  const given = expect(turns.take('acc_b', work)).rejects.toMatchObject({ status: 503, retryAfter: 5 });
  await vi.advanceTimersByTimeAsync(5_000);
  await given;
  await vi.advanceTimersByTimeAsync(3_000);
  // Its turn comes after 10 s and a rest of 2 s.
  const last = turns.take('acc_c', work);
  await vi.advanceTimersByTimeAsync(15_000);
  await Promise.all([first, last]);
  expect(most).toBe(1);
});
