import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PacedSemaphore } from '../../../../../services/api/http/account-slots.ts';
import { delay } from '../../../../../shared/runtime/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('work that cannot begin within five seconds is given up, and nothing runs beside another', async () => {
  const semaphore = new PacedSemaphore('coverage');
  let running = 0;
  let most = 0;
  const work = async () => {
    running += 1;
    most = Math.max(most, running);
    await delay(10_000);
    running -= 1;
  };
  const first = semaphore.run('acc_a', work);
  const given = expect(semaphore.run('acc_b', work)).rejects.toMatchObject({ status: 503, retryAfter: 5 });
  await vi.advanceTimersByTimeAsync(5_000);
  await given;
  await vi.advanceTimersByTimeAsync(3_000);
  // It begins after 10 s and a rest of 2 s.
  const last = semaphore.run('acc_c', work);
  await vi.advanceTimersByTimeAsync(15_000);
  await Promise.all([first, last]);
  expect(most).toBe(1);
});
