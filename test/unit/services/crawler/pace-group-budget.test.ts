import { expect, test } from 'vitest';
import { GroupBudget } from '../../../../services/crawler/pace.ts';

test('shares the calls among the slices that this process holds by their comments', () => {
  const budget = new GroupBudget(() => 4);
  expect(budget.perSecond('a', 0)).toBe(0);
  budget.set('a', 0.75, false);
  budget.set('b', 0.25, false);
  expect([budget.perSecond('a', 0), budget.perSecond('b', 0)]).toEqual([3, 1]);
  budget.remove('a');
  expect(budget.perSecond('b', 0)).toBe(4);
});
