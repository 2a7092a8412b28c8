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

test('work whose turn does not come within five seconds is given up, and nothing runs beside another', async () => {
  const turns = new PacedTurns('coverage');
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

test('work that nobody waits for any more is skipped', async () => {
  const turns = new PacedTurns('coverage');
  const gone = new AbortController();
  const begun: string[] = [];
  const work = (name: string) => async () => {
    begun.push(name);
    await delay(1_000);
  };
  const first = turns.take('acc_a', work('first'));
  const left = expect(turns.take('acc_b', work('left'), gone.signal)).rejects.toThrow('gone');
  const last = turns.take('acc_c', work('last'));
  await vi.advanceTimersByTimeAsync(500);
  gone.abort(new Error('gone'));
  await left;
  await vi.advanceTimersByTimeAsync(4_500);
  await Promise.all([first, last]);
  expect(begun).toEqual(['first', 'last']);
});
