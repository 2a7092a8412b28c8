import { expect, test } from 'vitest';
import { Pace } from '../../../../services/crawler/pace.ts';

test('stretches all intervals by the same factor when the sources together would exceed the budget', () => {
  const pace = new Pace(() => 1.75);
  pace.intervalMs('a', 400);
  expect(pace.intervalMs('b', 1000)).toBeCloseTo(2000);
  expect(pace.intervalMs('a', 400)).toBeCloseTo(800);
  pace.remove('a');
  expect(pace.intervalMs('b', 1000)).toBe(1000);
});

test('shares the calls in proportion to what the sources request', () => {
  const pace = new Pace(() => 10);
  expect(pace.perSecond('a', 2.5)).toBe(10);
  expect(pace.perSecond('b', 1)).toBeCloseTo(2.857);
  const short = new Pace(() => 1.75);
  short.perSecond('a', 2.5);
  expect(short.perSecond('b', 1)).toBeCloseTo(0.5);
  expect(new Pace(() => 0).perSecond('a', 1)).toBe(Infinity);
});

test('a preferred source keeps its interval while it takes no more than its share', () => {
  const pace = new Pace(() => 2);
  pace.intervalMs('listings', 250);
  expect(pace.intervalMs('posts', 2_000)).toBe(4_500);
  expect(pace.preferredMs('posts', 2_000, 0.25)).toBe(2_000);
  expect(pace.preferredMs('posts', 1_000, 0.25)).toBe(2_000);
});
