import { expect, test } from 'vitest';
import { EndpointHolds } from '../../../../services/deliverer/endpoint-holds.ts';

const URL = 'https://one.example/hook';
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

class HoldsBench {
  now = 1_000;
  readonly holds = new EndpointHolds(() => this.now);

  /** After each of these pauses in milliseconds: how many attempts may be in flight. */
  roomAfter(...pauses: number[]): number[] {
    return pauses.map((pause) => {
      this.now += pause;
      return this.holds.room(URL);
    });
  }
}

test.each([
  { status: 429, retryAfterMs: 5_000 },
  { status: 503, retryAfterMs: 5_000 },
])(
  '$status with Retry-After holds its URL alone, then lets one attempt through, and one more each minute',
  (answer) => {
    const bench = new HoldsBench();
    bench.holds.answered(URL, answer);
    expect(bench.roomAfter(0, 4_999, 1, MINUTE - 1, 1, MINUTE)).toEqual([0, 0, 1, 1, 2, 3]);
    expect(bench.holds.room('https://one.example/other')).toBe(Number.POSITIVE_INFINITY);
  },
);

test.each([
  { status: 429 },
  { status: 503, retryAfterMs: undefined },
  { status: 500, retryAfterMs: 5_000 },
  { status: 200, retryAfterMs: 5_000 },
  { status: 302, retryAfterMs: 5_000 },
  { status: 404, retryAfterMs: 5_000 },
])('$status with a Retry-After of $retryAfterMs ms asks for no pause', (answer) => {
  const bench = new HoldsBench();
  bench.holds.answered(URL, answer);
  expect(bench.holds.isHeld(URL)).toBe(false);
  expect(bench.holds.room(URL)).toBe(Number.POSITIVE_INFINITY);
});

test('the longest pause of several refusals counts, and an attempt that was taken meanwhile does not end it', () => {
  const bench = new HoldsBench();
  for (const seconds of [2, 5, 1]) bench.holds.answered(URL, { status: 429, retryAfterMs: seconds * 1_000 });
  bench.holds.answered(URL, { status: 204 });
  expect(bench.roomAfter(4_999, 1)).toEqual([0, 1]);
});

test('a pause lasts two hours at most', () => {
  const bench = new HoldsBench();
  bench.holds.answered(URL, { status: 429, retryAfterMs: 48 * HOUR });
  expect(bench.roomAfter(2 * HOUR - 1, 1)).toEqual([0, 1]);
});

test('a receiver that takes nothing for two hours is not held any more, but gets one attempt at a time', () => {
  const bench = new HoldsBench();
  const refuse = () => {
    bench.holds.answered(URL, { status: 429, retryAfterMs: 30 * MINUTE });
  };
  for (let refusals = 0; refusals < 4; refusals++) {
    refuse();
    expect(bench.roomAfter(0, 30 * MINUTE)).toEqual([0, 1]);
  }
  refuse();
  expect(bench.roomAfter(0)).toEqual([1]);
  // The retries of its matches come after up to two hours.
  expect(bench.roomAfter(2.2 * HOUR)).not.toEqual([Number.POSITIVE_INFINITY]);
  refuse();
  expect(bench.roomAfter(0)).toEqual([1]);
  // It takes one again.
  bench.holds.answered(URL, { status: 204 });
  refuse();
  expect(bench.roomAfter(0)).toEqual([0]);
});
