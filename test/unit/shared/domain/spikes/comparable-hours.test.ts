import { expect, test } from 'vitest';
import { comparableHours } from '../../../../../shared/domain/spikes/comparable-hours.ts';

const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 2, 1);
const at = (hours: number) => new Date(BEGIN + hours * HOUR);

/** Which of the first ten hours are comparable with the tenth. */
function comparable(
  history: Parameters<typeof comparableHours>[0],
  knownSince = BEGIN,
  judged = BEGIN + 9 * HOUR,
): number[] {
  const isComparable = comparableHours(history, knownSince);
  return Array.from({ length: 10 }, (_, hour) => hour).filter((hour) => isComparable(BEGIN + hour * HOUR, judged));
}

const version = (hours: number) => ({ since: at(hours) });
const active = (hours: number) => ({ at: at(hours), status: 'active' });
const paused = (hours: number) => ({ at: at(hours), status: 'paused' });

test('whole hours since the monitor began', () => {
  expect(comparable({ versions: [version(2.5)], states: [active(2.5)] })).toEqual([3, 4, 5, 6, 7, 8, 9]);
});

test('hours with a pause in them are not', () => {
  const states = [active(0), paused(2.2), active(2.3), paused(5), active(7), active(7.5)];
  expect(comparable({ versions: [version(0)], states })).toEqual([0, 1, 3, 4, 7, 8, 9]);
});

test('the rule of the judged hour must have begun before', () => {
  const history = { versions: [version(0), version(4.5), version(9.5)], states: [active(0)] };
  expect(comparable(history)).toEqual([]);
  expect(comparable(history, BEGIN, BEGIN + 8 * HOUR)).toEqual([5, 6, 7, 8, 9]);
  expect(comparable(history, BEGIN, BEGIN + 3 * HOUR).slice(0, 3)).toEqual([0, 1, 2]);
});

test('hours of which nothing is kept are not', () => {
  expect(comparable({ versions: [version(-90)], states: [active(-90)] }, BEGIN + 6.5 * HOUR)).toEqual([7, 8, 9]);
});
