import { expect, test } from 'vitest';
import { MeasuredHours } from '../../../../../services/api/coverage/measured-hours.ts';

const HOUR = 3_600_000;
const EMPTY = { seen: {}, late: 0, lags: {}, tombstones: 0, posts: null, comments: null };

test('reads an hour once, and again when it was stored again', () => {
  const measured = new MeasuredHours();
  const stored = (late: number, computedAt: number) => ({
    hour: new Date(HOUR),
    computedAt: new Date(computedAt),
    coverage: { ...EMPTY, late },
  });
  const first = measured.of(stored(1, 5));
  expect(first).toEqual({ coverage: { ...EMPTY, late: 1 }, lags: null });
  expect(measured.of(stored(1, 5))).toBe(first);
  expect(measured.of(stored(2, 6))?.coverage.late).toBe(2);
});

test('keeps a bounded number of hours: those that were asked for last', () => {
  const measured = new MeasuredHours();
  const of = (hour: number) =>
    measured.of({ hour: new Date(hour * HOUR), computedAt: new Date(0), coverage: { ...EMPTY } });
  const [first, second] = [of(0), of(1)];
  for (let hour = 2; hour < 1_000; hour++) of(hour);
  expect(of(0)).toBe(first);
  of(1_000);
  expect(of(0)).toBe(first);
  expect(of(1)).not.toBe(second);
});

test('an hour of a version that cannot be read is not known', () => {
  const unreadable = { hour: new Date(0), computedAt: new Date(0), coverage: { seen: 1 } };
  expect(new MeasuredHours().of(unreadable)).toBeUndefined();
});
