import { describe, expect, test } from 'vitest';
import { RateBudget } from '../../../../../shared/upstream/budget/rate-budget.ts';

const NOW = 1_000_000;

/** A budget with the headers of one response. */
function after(remaining: string, used: string, reset: string): RateBudget {
  const budget = new RateBudget();
  budget.take(NOW);
  budget.settle({ remaining, used, reset }, NOW);
  return budget;
}

describe('RateBudget', () => {
  test('assumes nothing before the first answer', () => {
    const budget = new RateBudget();
    expect(budget.perSecond(NOW)).toBe(Number.POSITIVE_INFINITY);
    expect(budget.take(NOW)).toBe(true);
    expect(budget.report(NOW)).toBeUndefined();
  });

  test('reads remaining as a decimal fraction and reset as seconds', () => {
    const budget = after('999.0', '1', '300');
    expect(budget.remaining(NOW)).toBe(999);
    expect(budget.perSecond(NOW)).toBeCloseTo(999 / 300);
  });

  test('knows what a whole window allows once it has seen one begin', () => {
    const budget = after('400', '600', '60');
    expect(budget.allowedPerSecond(), 'the rest of a window').toBeUndefined();
    budget.settle({ remaining: '300', used: '700', reset: '10' }, NOW + 50_000);
    expect(budget.allowedPerSecond()).toBeUndefined();
    budget.take(NOW + 61_000);
    budget.settle({ remaining: '999', used: '1', reset: '599' }, NOW + 61_000);
    expect(budget.allowedPerSecond()).toBeCloseTo(1000 / 599);
  });

  test('is empty after the last call of a window', () => {
    const budget = after('1.0', '999', '60');
    expect(budget.take(NOW)).toBe(true);
    expect(budget.take(NOW)).toBe(false);
    expect(budget.waitMs(NOW)).toBe(60_000);
    expect(budget.perSecond(NOW)).toBe(0);
  });

  test('is full again in a new window, which is assumed to be as long as the last one', () => {
    const budget = after('0.0', '1000', '42');
    expect(budget.take(NOW + 41_999)).toBe(false);
    expect(budget.take(NOW + 42_000)).toBe(true);
    expect(budget.remaining(NOW + 42_000)).toBe(999);
    expect(budget.perSecond(NOW + 42_000)).toBeCloseTo(999 / 42);
    expect(budget.report(NOW + 42_000)).toBeUndefined();
  });

  test('counts calls in flight that the headers do not include', () => {
    const budget = after('500', '500', '60');
    for (let call = 0; call < 3; call++) budget.take(NOW);
    budget.settle({ remaining: '499', used: '501', reset: '60' }, NOW);
    expect(budget.remaining(NOW)).toBe(497);
  });

  test('waits as long as a 429 asks for', () => {
    const budget = after('500', '500', '60');
    budget.block(NOW + 5_000);
    expect(budget.waitMs(NOW)).toBe(5_000);
    expect(budget.perSecond(NOW)).toBe(0);
    expect(budget.take(NOW + 5_000)).toBe(true);
  });

  test('keeps counting down when a response has missing or broken headers', () => {
    const budget = after('500', '500', '60');
    budget.take(NOW);
    budget.settle({}, NOW);
    budget.take(NOW);
    budget.settle({ remaining: 'many', reset: '' }, NOW);
    expect(budget.remaining(NOW)).toBe(498);
  });

  test.each([
    ['a date instead of seconds', { remaining: '0.0', used: '1000', reset: '1770000000' }],
    ['a window of years', { remaining: '10', used: '990', reset: '99999999' }],
    ['a window that ended', { remaining: '0', used: '1000', reset: '-5' }],
  ])('learns nothing from headers with %s', (_, headers) => {
    const budget = after('500', '500', '60');
    budget.take(NOW);
    budget.settle(headers, NOW);
    expect(budget.remaining(NOW)).toBe(499);
    expect(budget.report(NOW)).toMatchObject({ left: 499, endsInMs: 60_000 });
  });
});

describe('a report of another process', () => {
  const report = { limit: 1000, left: 400, endsInMs: 60_000, blockedForMs: 0 };

  test('is used when nothing is known', () => {
    const budget = new RateBudget();
    budget.learn(report, 1_000, NOW);
    expect(budget.remaining(NOW)).toBe(400);
    expect(budget.perSecond(NOW)).toBeCloseTo(400 / 59);
  });

  test('of the same window counts when its number is lower, whichever came last', () => {
    const budget = after('300', '700', '60');
    budget.learn(report, 0, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, left: 250, endsInMs: 59_400 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(250);
  });

  test('of a window of years is ignored', () => {
    const budget = new RateBudget();
    budget.learn({ ...report, left: 0, endsInMs: 10 ** 12 }, 0, NOW);
    expect(budget.waitMs(NOW)).toBe(0);
  });

  test('of an earlier window is ignored, and of a later window used', () => {
    const budget = after('300', '700', '60');
    budget.learn({ ...report, left: 2, endsInMs: 20_000 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, left: 999, endsInMs: 600_000 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(999);
  });

  test('replaces the assumption about a new window', () => {
    const budget = after('0', '1000', '42');
    expect(budget.remaining(NOW + 50_000)).toBe(1000);
    budget.learn({ ...report, left: 700, endsInMs: 30_000 }, 0, NOW + 50_000);
    expect(budget.remaining(NOW + 50_000)).toBe(700);
  });

  test('of a past window is ignored, except for a pause that the forum asked for', () => {
    const budget = after('300', '700', '60');
    budget.learn({ ...report, left: 0, endsInMs: 900 }, 1_000, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, blockedForMs: 5_000 }, 1_000, NOW);
    expect(budget.waitMs(NOW)).toBe(4_000);
  });
});
