import { describe, expect, test } from 'vitest';
import { RateBudget } from '../../../../shared/forum-client/client-budgets.ts';

const NOW = 1_000_000;

/** A budget with the headers of one response. */
function after(remaining: string, used: string, reset: string): RateBudget {
  const budget = new RateBudget();
  budget.take(NOW);
  budget.settle({ remaining, used, reset }, NOW);
  return budget;
}

describe('RateBudget', () => {
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

  test('is full again in a new window, which is assumed to be as long as the last one', () => {
    const budget = after('0.0', '1000', '42');
    expect(budget.take(NOW + 41_999)).toBe(false);
    expect(budget.take(NOW + 42_000)).toBe(true);
    expect(budget.remaining(NOW + 42_000)).toBe(999);
    expect(budget.perSecond(NOW + 42_000)).toBeCloseTo(999 / 42);
    expect(budget.report(NOW + 42_000)).toBeUndefined();
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

  test('of the same window counts when its number is lower, whichever came last', () => {
    const budget = after('300', '700', '60');
    budget.learn(report, 0, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, left: 250, endsInMs: 59_400 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(250);
  });

  test('of an earlier window is ignored, and of a later window used', () => {
    const budget = after('300', '700', '60');
    budget.learn({ ...report, left: 2, endsInMs: 20_000 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, left: 999, endsInMs: 600_000 }, 0, NOW);
    expect(budget.remaining(NOW)).toBe(999);
  });

  test('of a past window is ignored, except for a pause that the forum asked for', () => {
    const budget = after('300', '700', '60');
    budget.learn({ ...report, left: 0, endsInMs: 900 }, 1_000, NOW);
    expect(budget.remaining(NOW)).toBe(300);
    budget.learn({ ...report, blockedForMs: 5_000 }, 1_000, NOW);
    expect(budget.waitMs(NOW)).toBe(4_000);
  });
});

describe('headers that contradict themselves', () => {
  const nothing = { remaining: '0.0', used: '0', reset: '600' };

  test('allow a call every 30 s when nothing is left of an unused window', () => {
    const headers = nothing;
    const budget = new RateBudget();
    budget.take(NOW);
    budget.settle(headers, NOW);
    expect([budget.take(NOW + 29_999), budget.waitMs(NOW + 29_999)]).toEqual([false, 1]);
    expect([budget.take(NOW + 30_000), budget.take(NOW + 30_000)]).toEqual([true, false]);
    budget.settle(headers, NOW + 30_400);
    expect(budget.take(NOW + 60_399)).toBe(false);
    expect(budget.take(NOW + 60_400)).toBe(true);
    budget.settle({ remaining: '998.0', used: '2', reset: '539' }, NOW + 61_000);
    expect(budget.remaining(NOW + 61_000)).toBe(998);
  });

  test('allow a call now and then when a window has no end', () => {
    const budget = after('1', '1', '0');
    for (let call = 0; call < 2; call++) expect(budget.take(NOW + 1)).toBe(true);
    expect(budget.take(NOW + 1)).toBe(true);
    expect(budget.take(NOW + 2)).toBe(false);
    expect(budget.take(NOW + 30_001)).toBe(true);
  });
});

describe('a window that is used up', () => {
  test('is not learnt again from a late report once the next one has begun', () => {
    const budget = after('0.0', '1000', '60');
    expect(budget.remaining(NOW + 60_000)).toBe(1000);
    budget.learn({ limit: 1000, left: 0, endsInMs: 4_000, blockedForMs: 0 }, 0, NOW + 60_000);
    expect(budget.remaining(NOW + 60_000)).toBe(1000);
  });
});
