import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparableHours, findSpikes } from '../../../../../shared/monitors/rules/find-spikes.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 2, 31, 10);

/** Judges the hour `NOW` with so many matches, after these counts on the days before, newest first. */
function spikesOf(count: number, before: readonly number[], more = new Map<number, number>()) {
  const counts = new Map([...before.map((value, day) => [NOW - (day + 1) * DAY, value] as const), ...more]);
  const oldest = NOW - before.length * DAY;
  return findSpikes({
    from: NOW,
    to: NOW + HOUR,
    counts: counts.set(NOW, count),
    isComparable: (hour) => hour >= oldest,
  });
}

const days = (count: number, value: number) => Array.from({ length: count }, () => value);

describe('an hour is a spike', () => {
  test.each([
    ['of a quiet monitor', 10, days(28, 0), { median: 0, scale: 1, score: 10, days: 28 }],
    ['above what is usual by chance', 100, days(14, 36), { median: 36, scale: 6, score: 64 / 6, days: 14 }],
    ['though one day before it had a spike too', 10, [...days(20, 0), 500], { median: 0, scale: 1, days: 21 }],
    ['exactly at the threshold', 66, days(20, 36), { score: 5 }],
  ])('%s', (_what, count, before, expected) => {
    expect(spikesOf(count, before)).toMatchObject([{ hour: NOW, count, ...expected }]);
  });
});

describe('an hour is no spike', () => {
  test.each([
    ['with 9 matches', 9, days(28, 0)],
    ['with 13 days to compare', 500, days(13, 0)],
    ['just below the threshold', 65, days(20, 36)],
    ['when it is often so busy', 200, [10, 300, 20, 250, 5, 310, 15, 260, 25, 290, 8, 270, 12, 280]],
  ])('%s', (_what, count, before) => {
    expect(spikesOf(count, before)).toEqual([]);
  });
});

test('only the same hour of the last 28 days counts', () => {
  const elsewhere = new Map([1, 2, 3, 25, 29].map((hours) => [NOW - hours * HOUR, 1_000]));
  const older = new Map([29, 30, 31].map((day) => [NOW - day * DAY, 1_000]));
  const found = spikesOf(50, [...days(28, 1), 900, 900], new Map([...elsewhere, ...older]));
  expect(found).toMatchObject([{ median: 1, days: 28 }]);
});

test('hours that cannot be compared are left out, not counted as empty', () => {
  const counts = new Map([[NOW, 40]]);
  for (let day = 1; day <= 28; day += 2) counts.set(NOW - day * DAY, 38);
  const search = { from: NOW, to: NOW + HOUR, counts };
  expect(findSpikes({ ...search, isComparable: () => true })).toHaveLength(0);
  const isOdd = (hour: number) => ((NOW - hour) / DAY) % 2 === 1;
  expect(findSpikes({ ...search, isComparable: isOdd })).toEqual([]);
  counts.set(NOW, 100);
  expect(findSpikes({ ...search, isComparable: isOdd })).toMatchObject([{ median: 38, days: 14 }]);
});

test('for any counts: a definition by sorting agrees, and more matches never end a spike', () => {
  const counts = fc.array(fc.nat(400), { minLength: 14, maxLength: 28 });
  fc.assert(
    fc.property(fc.nat(1_000), counts, fc.nat(500), (count, before, more) => {
      const [spike] = spikesOf(count, before);
      const half = (values: number[]) => {
        const sorted = values.toSorted((a, b) => a - b);
        return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
      };
      const median = half(before);
      const scale = Math.max(1.4826 * half(before.map((value) => Math.abs(value - median))), Math.sqrt(median), 1);
      const isSpike = count >= 10 && count - median >= 5 * scale - 1e-9;
      expect(spike !== undefined).toBe(isSpike);
      if (spike) {
        expect(spike).toMatchObject({ median, scale });
        expect(spikesOf(count + more, before)).toHaveLength(1);
      }
    }),
  );
});

const BEGIN = Date.UTC(2026, 2, 1);
const at = (hours: number) => new Date(BEGIN + hours * HOUR);

/** Which of the first ten hours are comparable with the tenth. */
function comparable(
  history: Parameters<typeof comparableHours>[0],
  knownSince = BEGIN,
  checked = BEGIN + 9 * HOUR,
): number[] {
  const isComparable = comparableHours(history, knownSince);
  return Array.from({ length: 10 }, (_, hour) => hour).filter((hour) => isComparable(BEGIN + hour * HOUR, checked));
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

test('the rule of the checked hour must have begun before', () => {
  const history = { versions: [version(0), version(4.5), version(9.5)], states: [active(0)] };
  expect(comparable(history)).toEqual([]);
  expect(comparable(history, BEGIN, BEGIN + 8 * HOUR)).toEqual([5, 6, 7, 8, 9]);
  expect(comparable(history, BEGIN, BEGIN + 3 * HOUR).slice(0, 3)).toEqual([0, 1, 2]);
});

test('hours of which nothing is kept are not', () => {
  expect(comparable({ versions: [version(-90)], states: [active(-90)] }, BEGIN + 6.5 * HOUR)).toEqual([7, 8, 9]);
});
