import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ReplayThrottle } from '../../../../../services/crawler/replay/replay-source.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

/** A replay that waits before each batch, a matcher whose lag the test sets, and a clock that advances at each read. */
function replay() {
  const state = { lag: 0, fails: false, batches: 0, now: 0 };
  const stopping = new AbortController();
  const throttle = new ReplayThrottle({
    lag: () => (state.fails ? Promise.reject(new Error('the broker is unavailable')) : Promise.resolve(state.lag)),
    maxLag: 1_000,
    logger: silentLogger(),
    clock: () => (state.now += 600),
  });
  const batch = async (): Promise<void> => {
    await throttle.waitUntilCaughtUp(stopping.signal);
    if (!stopping.signal.aborted) state.batches += 1;
  };
  return { state, batch, stop: () => stopping.abort() };
}

beforeAll(() => {
  vi.useFakeTimers();
});
afterAll(() => {
  vi.useRealTimers();
});

test('pauses a replay while the matcher is behind or its lag is not known, until half of the maximum lag', async () => {
  const { state, batch } = replay();
  state.fails = true;
  const waiting = batch();
  await vi.advanceTimersByTimeAsync(2_000);
  for (const lag of [1_001, 700]) {
    Object.assign(state, { fails: false, lag });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(state.batches).toBe(0);
  }
  state.lag = 500;
  await vi.advanceTimersByTimeAsync(2_000);
  await waiting;
  expect(state.batches).toBe(1);
});

test('ends the wait of a paused replay at stop', async () => {
  const { state, batch, stop } = replay();
  state.lag = 5_000;
  const waiting = batch();
  await vi.advanceTimersByTimeAsync(2_000);
  stop();
  await waiting;
  expect(state.batches).toBe(0);
});
