import { expect, test } from 'vitest';
import { GroupBudget } from '../../../../../services/crawler/groups/group-budget.ts';

test('shares the calls among the slices that this process holds by their comments', () => {
  const budget = new GroupBudget(() => 4);
  expect(budget.perSecond('a', 1, 0)).toBe(0);
  budget.set('a', 0.75, false);
  budget.set('b', 0.25, false);
  expect([budget.plannedPerSecond('a', 0), budget.plannedPerSecond('b', 0)]).toEqual([3, 1]);
  budget.remove('a');
  expect(budget.plannedPerSecond('b', 0)).toBe(4);
});

test('lends what a slice does not want to the others, and shortens all alike', () => {
  const budget = new GroupBudget(() => 4);
  budget.set('a', 0.5, false);
  budget.set('b', 0.5, false);
  const perSecond = (a: number, b: number): number[] => {
    budget.perSecond('a', a, 0);
    budget.perSecond('b', b, 0);
    return [budget.perSecond('a', a, 0), budget.perSecond('b', b, 0)];
  };
  expect(perSecond(3, 0.5)).toEqual([3.25, 0.75]);
  expect(perSecond(6, 2)).toEqual([3, 1]);
  expect(perSecond(0, 0)).toEqual([2, 2]);
});

test('allows five calls a second over all slices while the limits are unknown', () => {
  const budget = new GroupBudget(() => Infinity);
  budget.set('a', 0.25, false);
  expect(budget.perSecond('a', 1, 0)).toBe(1.25);
});

test('is short while any slice leaves communities out', () => {
  const budget = new GroupBudget(() => 4);
  budget.set('a', 0.25, true);
  budget.set('b', 0.25, false);
  expect(budget.isShort).toBe(true);
  budget.remove('a');
  expect(budget.isShort).toBe(false);
});

test('follows the mean of a minute for polling, and of ten minutes for planning', () => {
  let perSecond = 4;
  const budget = new GroupBudget(() => perSecond);
  budget.set('a', 1, false);
  let now = 0;
  const pass = (value: number, ms: number): [number, number] => {
    perSecond = value;
    for (const end = now + ms; now < end; now += 1_000) budget.perSecond('a', 1, now);
    return [budget.perSecond('a', 1, now), budget.plannedPerSecond('a', now)];
  };
  expect(pass(4, 900_000)).toEqual([4, 4]);
  const [polling, planning] = pass(1, 120_000);
  expect(polling).toBeLessThan(1.5);
  expect(planning).toBeGreaterThan(3.2);
  expect(pass(1, 1_800_000)[1]).toBeCloseTo(1, 0);
});
