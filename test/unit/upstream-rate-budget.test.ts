import { describe, expect, it } from 'vitest';
import { RateBudget } from '../../shared/upstream/rate-budget.ts';

const NOW = 1_000_000;

/** A budget that has heard the headers of one answer. */
function after(remaining: string, used: string, reset: string): RateBudget {
  const budget = new RateBudget();
  budget.take('live', NOW);
  budget.settle({ remaining, used, reset }, NOW);
  return budget;
}

describe('the budget of a client', () => {
  it('assumes nothing before the first answer', () => {
    const budget = new RateBudget();
    expect(budget.perSecond('live', NOW)).toBe(Number.POSITIVE_INFINITY);
    expect(budget.take('recheck', NOW)).toBe(true);
  });

  it('reads remaining as a decimal fraction and reset as seconds', () => {
    const budget = after('999.0', '1', '300');
    expect(budget.remaining(NOW)).toBe(999);
    expect(budget.perSecond('reading', NOW)).toBeCloseTo(999 / 300);
    expect(budget.perSecond('live', NOW)).toBeCloseTo(899 / 300);
  });

  it('leaves each lane before it its share', () => {
    const budget = after('100', '900', '60');
    expect(budget.take('live', NOW)).toBe(false);
    expect(budget.waitMs('live', NOW)).toBe(60_000);
    expect(budget.perSecond('live', NOW)).toBe(0);
    expect(budget.take('reading', NOW)).toBe(true);
    const fuller = after('400', '600', '60');
    expect(fuller.take('catch-up', NOW)).toBe(true);
    expect(fuller.take('recheck', NOW)).toBe(false);
  });

  it('is full again when the window turns', () => {
    const budget = after('0.0', '1000', '42');
    expect(budget.take('reading', NOW + 41_999)).toBe(false);
    expect(budget.take('reading', NOW + 42_000)).toBe(true);
    expect(budget.remaining(NOW + 42_000)).toBe(999);
  });

  it('counts calls under way that the headers cannot know of', () => {
    const budget = after('500', '500', '60');
    for (let call = 0; call < 3; call++) budget.take('live', NOW);
    budget.settle({ remaining: '499', used: '501', reset: '60' }, NOW);
    expect(budget.remaining(NOW)).toBe(497);
  });

  it('waits as long as a 429 asked for', () => {
    const budget = after('500', '500', '60');
    budget.block(NOW + 5_000);
    expect(budget.waitMs('reading', NOW)).toBe(5_000);
    expect(budget.perSecond('reading', NOW)).toBe(0);
    expect(budget.take('reading', NOW + 5_000)).toBe(true);
  });

  it('goes on counting down when an answer has no headers or broken ones', () => {
    const budget = after('500', '500', '60');
    budget.take('live', NOW);
    budget.settle({}, NOW);
    budget.take('live', NOW);
    budget.settle({ remaining: 'many', reset: '' }, NOW);
    expect(budget.remaining(NOW)).toBe(498);
  });
});
