import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PacedTurns } from '../../../../../services/api/http/paced-turns.ts';
import { delay } from '../../../../../shared/runtime/clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('work of many accounts takes a quarter of the time, one after the other', async () => {
  const turns = new PacedTurns('coverage');
  const begun: number[] = [];
  const from = performance.now();
  const all = Promise.all(
    Array.from({ length: 10 }, (_, account) =>
      turns.take(`acc_${account}`, async () => {
        begun.push(Math.round(performance.now() - from));
        await delay(50);
      }),
    ),
  );
  await vi.advanceTimersByTimeAsync(10_000);
  await all;
  expect(begun).toEqual([0, 200, 400, 600, 800, 1_000, 1_200, 1_400, 1_600, 1_800]);
});

test('an account waits for two turns at most; the others are not refused', async () => {
  const turns = new PacedTurns('coverage');
  const work = () => delay(50);
  const first = turns.take('acc_a', work);
  const second = turns.take('acc_a', work);
  await expect(turns.take('acc_a', work)).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 1 });
  const other = turns.take('acc_b', work);
  await vi.advanceTimersByTimeAsync(1_000);
  await Promise.all([first, second, other]);
  const later = turns.take('acc_a', work);
  await vi.advanceTimersByTimeAsync(1_000);
  await later;
});

test('work that fails ends its turn', async () => {
  const turns = new PacedTurns('coverage');
  await expect(turns.take('acc_a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  const next = turns.take('acc_a', () => Promise.resolve('done'));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await next).toBe('done');
});
