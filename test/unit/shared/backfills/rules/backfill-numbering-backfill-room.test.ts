import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backfillCredits, backfillRoom } from '../../../../../shared/backfills/rules/backfill-numbering.ts';

const funds = { matches: 0, credits: 0, maxCredits: undefined, balance: 1_000_000 };

test.each([
  [0, 0],
  [1, 1],
  [100, 1],
  [101, 2],
  [50_000, 500],
])('%i matches cost %i credits', (matches, credits) => {
  expect(backfillCredits(matches)).toBe(credits);
});

test.each([
  ['nothing but the limit of a run', {}, 50_000, 'stopped_limit'],
  ['the limit of a run, at its end', { matches: 50_000, credits: 500 }, 0, 'stopped_limit'],
  ['the credits of the account', { balance: 3 }, 300, 'stopped_balance'],
  ['what is paid already', { matches: 40, credits: 1, balance: 0 }, 60, 'stopped_balance'],
  ['no credits at all', { balance: 0 }, 0, 'stopped_balance'],
  ['max_credits', { maxCredits: 2, matches: 150, credits: 2 }, 50, 'stopped_credits'],
  ['max_credits before a higher balance', { maxCredits: 2, balance: 3 }, 200, 'stopped_credits'],
  ['the limit, when max_credits is the same', { maxCredits: 500 }, 50_000, 'stopped_limit'],
])('the room follows from %s', (_name, more, room, stop) => {
  expect(backfillRoom({ ...funds, ...more })).toEqual({ room, stop });
});

test('whatever fits into the room is covered by the balance and by max_credits', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 50_000 }),
      fc.integer({ min: 0, max: 600 }),
      fc.option(fc.integer({ min: 1, max: 600 }), { nil: undefined }),
      (matches, balance, maxCredits) => {
        const credits = backfillCredits(matches);
        const { room } = backfillRoom({ matches, credits, maxCredits, balance });
        const after = backfillCredits(matches + room);
        expect(after - credits).toBeLessThanOrEqual(balance);
        if (room > 0) expect(after).toBeLessThanOrEqual(maxCredits ?? Number.POSITIVE_INFINITY);
        expect(matches + room).toBeLessThanOrEqual(50_000);
        // And not one more would be.
        const more = backfillCredits(matches + room + 1);
        const isMore = more - credits > balance || more > (maxCredits ?? Infinity) || matches + room + 1 > 50_000;
        expect(isMore).toBe(true);
      },
    ),
  );
});
