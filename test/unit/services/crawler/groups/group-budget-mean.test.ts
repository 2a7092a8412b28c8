import { describe, expect, test } from 'vitest';
import { GroupBudget } from '../../../../../services/crawler/groups/group-budget.ts';

describe('GroupBudget', () => {
  test('shares the budget among the slices by their comments', () => {
    const budget = new GroupBudget(() => 3);
    budget.set('a', 0.2, false);
    budget.set('b', 0.4, true);
    expect(budget.perSecond('a', 0)).toBeCloseTo(1);
    expect(budget.perSecond('b', 0)).toBeCloseTo(2);
    expect(budget.isShort).toBe(true);
    budget.remove('b');
    expect(budget.perSecond('a', 0)).toBeCloseTo(3);
    expect(budget.isShort).toBe(false);
  });

  test('averages over a minute, because bursts of other callers last for seconds', () => {
    let perSecond = 4;
    const budget = new GroupBudget(() => perSecond);
    budget.set('a', 1, false);
    expect(budget.perSecond('a', 0)).toBe(4);
    perSecond = 0;
    expect(budget.perSecond('a', 2_000)).toBeGreaterThan(3.8);
    perSecond = 4;
    expect(budget.perSecond('a', 4_000)).toBeGreaterThan(3.8);
    perSecond = 1;
    expect(budget.perSecond('a', 304_000)).toBeCloseTo(1, 1);
  });

  test('plans a few calls while the limits are unknown', () => {
    const budget = new GroupBudget(() => Infinity);
    budget.set('a', 0.25, false);
    expect(budget.perSecond('a', 0)).toBe(1.25);
  });
});
