import { expect, test } from 'vitest';
import { ReplayThrottle } from '../../../../../services/crawler/replay/replay-throttle.ts';
import { eventually } from '../../../../support/fixtures/eventually.ts';
import { silentLogger } from '../../../../support/fixtures/silent-logger.ts';

/** A replay that asks before each round, a matcher whose lag the test sets, and a clock that each look moves on. */
function replay() {
  const state = { lag: 0, fails: false, looks: 0, rounds: 0, now: 0 };
  const stopping = new AbortController();
  const throttle = new ReplayThrottle({
    lag: () => {
      state.looks += 1;
      return state.fails ? Promise.reject(new Error('the broker is away')) : Promise.resolve(state.lag);
    },
    mostLag: 1_000,
    logger: silentLogger(),
    clock: () => (state.now += 600),
  });
  const round = async (): Promise<void> => {
    await throttle.mayGoOn(stopping.signal);
    if (!stopping.signal.aborted) state.rounds += 1;
  };
  return { state, round, stop: () => stopping.abort() };
}

test('replay goes on while the matcher keeps up, and looks at its lag no oftener than every second', async () => {
  const { state, round } = replay();
  state.lag = 1_000;
  for (let n = 0; n < 10; n++) await round();
  expect(state.rounds).toBe(10);
  expect(state.looks).toBe(5);
});

test.each([
  ['the matcher is behind', { lag: 1_001 }],
  ['the lag cannot be read', { fails: true }],
])('replay waits while %s, until half of the bound is reached', async (_, trouble) => {
  const { state, round } = replay();
  Object.assign(state, trouble);
  const waiting = round();
  await eventually('it looks', () => state.looks > 0);
  Object.assign(state, { fails: false, lag: 700 });
  const looks = state.looks;
  await eventually('it looks again', () => state.looks > looks);
  expect(state.rounds).toBe(0);
  state.lag = 500;
  await waiting;
  expect(state.rounds).toBe(1);
});

test('replay that waits ends at stop', async () => {
  const { state, round, stop } = replay();
  state.lag = 5_000;
  const waiting = round();
  await eventually('it looks', () => state.looks > 0);
  stop();
  await waiting;
  expect(state.rounds).toBe(0);
});
