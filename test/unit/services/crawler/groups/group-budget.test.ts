import { expect, test } from 'vitest';
import { GroupBudget } from '../../../../../services/crawler/groups/group-budget.ts';

test('shares the calls among the slices that this process holds by their comments', () => {
  const budget = new GroupBudget(() => 4);
  expect(budget.perSecond('a', 0)).toBe(0);
  budget.set('a', 0.75, false);
  budget.set('b', 0.25, false);
  expect([budget.perSecond('a', 0), budget.perSecond('b', 0)]).toEqual([3, 1]);
  budget.remove('a');
  expect(budget.perSecond('b', 0)).toBe(4);
});

test('allows five calls a second over all slices while the limits are unknown', () => {
  const budget = new GroupBudget(() => Infinity);
  budget.set('a', 0.25, false);
  expect(budget.perSecond('a', 0)).toBe(1.25);
});

test('is short while any slice leaves communities out', () => {
  const budget = new GroupBudget(() => 4);
  budget.set('a', 0.25, true);
  budget.set('b', 0.25, false);
  expect(budget.isShort).toBe(true);
  budget.remove('a');
  expect(budget.isShort).toBe(false);
});
