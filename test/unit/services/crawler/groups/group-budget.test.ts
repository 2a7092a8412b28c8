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
