import { describe, expect, test } from 'vitest';
import { RateBudget } from '../../../../../shared/upstream/budget/rate-budget.ts';

const NOW = 1_000_000;

/** A budget that has heard the headers of one answer. */
function after(remaining: string, used: string, reset: string): RateBudget {
  const budget = new RateBudget();
  budget.take(NOW);
  budget.settle({ remaining, used, reset }, NOW);
  return budget;
}

describe('the budget of a client', () => {
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

  test('ends with the last call of a window', () => {
    const budget = after('1.0', '999', '60');
    expect(budget.take(NOW)).toBe(true);
    expect(budget.take(NOW)).toBe(false);
    expect(budget.waitMs(NOW)).toBe(60_000);
    expect(budget.perSecond(NOW)).toBe(0);
  });

  test('is full again when the window turns, and taken for as long as the last one', () => {
    const budget = after('0.0', '1000', '42');
    expect(budget.take(NOW + 41_999)).toBe(false);
    expect(budget.take(NOW + 42_000)).toBe(true);
    expect(budget.remaining(NOW + 42_000)).toBe(999);
    expect(budget.perSecond(NOW + 42_000)).toBeCloseTo(999 / 42);
    expect(budget.report(NOW + 42_000)).toBeUndefined();
  });

  test('counts calls under way that the headers cannot know of', () => {
    const budget = after('500', '500', '60');
    for (let call = 0; call < 3; call++) budget.take(NOW);
    budget.settle({ remaining: '499', used: '501', reset: '60' }, NOW);
    expect(budget.remaining(NOW)).toBe(497);
  });

  test('waits as long as a 429 asked for', () => {
    const budget = after('500', '500', '60');
    budget.block(NOW + 5_000);
    expect(budget.waitMs(NOW)).toBe(5_000);
    expect(budget.perSecond(NOW)).toBe(0);
    expect(budget.take(NOW + 5_000)).toBe(true);
  });

  test('goes on counting down when an answer has no headers or broken ones', () => {
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

describe('what another process knows of the client', () => {
  const report = { limit: 1000, left: 400, endsInMs: 60_000, blockedForMs: 0 };

  test('is taken over where nothing is known', () => {
    const budget = new RateBudget();
    budget.learn(report, 1_000, NOW);
    expect(budget.remaining(NOW)).toBe(400);
    expect(budget.perSecond(NOW)).toBeCloseTo(400 / 59);
  });

  test('of the same window: the lower number counts, whichever came last', () => {
    const budget = after('300', '700', '60');
    budget.learn(report, 0, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, left: 250, endsInMs: 59_400 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(250);
  });

  test('of a window of years is not taken over', () => {
    const budget = new RateBudget();
    budget.learn({ ...report, left: 0, endsInMs: 10 ** 12 }, 0, NOW);
    expect(budget.waitMs(NOW)).toBe(0);
  });

  test('of an earlier window is old, of a later one new', () => {
    const budget = after('300', '700', '60');
    budget.learn({ ...report, left: 2, endsInMs: 20_000 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, left: 999, endsInMs: 600_000 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(999);
  });

  test('replaces the guess at a window that turned', () => {
    const budget = after('0', '1000', '42');
    expect(budget.remaining(NOW + 50_000)).toBe(1000);
    budget.learn({ ...report, left: 700, endsInMs: 30_000 }, 0, NOW + 50_000);
    expect(budget.remaining(NOW + 50_000)).toBe(700);
  });

  test('a window that is over says nothing; a pause that the forum asked for counts', () => {
    const budget = after('300', '700', '60');
    budget.learn({ ...report, left: 0, endsInMs: 900 }, 1_000, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, blockedForMs: 5_000 }, 1_000, NOW);
    expect(budget.waitMs(NOW)).toBe(4_000);
  });
});
