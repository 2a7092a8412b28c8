import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomText } from '../../../shared/domain/identifiers.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import type { SlidingLogLimit } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  await db.freeze();
});

function newLimit(most: number, seconds: number): SlidingLogLimit {
  return { name: randomText(12), maxUses: most, seconds };
}

const take = (limit: SlidingLogLimit) => takeUse(db.pool, limit);
const takeAtOnce = (limit: SlidingLogLimit, count: number) =>
  Promise.all(Array.from({ length: count }, () => take(limit)));
const taken = (answers: readonly number[]) => answers.filter((seconds) => seconds === 0).length;

async function timesHeld(name: string): Promise<number> {
  const { rows } = await db.pool.query<{ held: number }>(
    'SELECT cardinality(times) AS held FROM recent_uses WHERE name = $1',
    [name],
  );
  return rows[0]?.held ?? 0;
}

describe('concurrent takers', () => {
  test.each([
    [1, 20],
    [5, 60],
    [20, 60],
    [50, 30],
  ])('of %i uses requested by %i takers: exactly the limit', async (most, takers) => {
    const limit = newLimit(most, 60);
    for (let window = 0; window < 3; window++) {
      const answers = await takeAtOnce(limit, takers);
      expect(taken(answers)).toBe(Math.min(most, takers));
      expect(new Set(answers.filter((seconds) => seconds > 0))).toEqual(new Set(takers > most ? [60] : []));
      await db.freeze('60 seconds');
    }
  });

  test('of two names in one order: no deadlock, and a refusal by the second name returns the first', async () => {
    const [first, second] = [newLimit(30, 60), newLimit(7, 60)].sort((a, b) => (a.name < b.name ? -1 : 1));
    const both = () =>
      inTransaction(db.pool, async (client) => {
        for (const limit of [first!, second!]) if ((await takeUse(client, limit)) > 0) throw new Error('refused');
      });
    const outcomes = await Promise.allSettled(Array.from({ length: 40 }, both));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect([await timesHeld(first!.name), await timesHeld(second!.name)]).toEqual([7, 7]);
  });

  test('of which some roll back: their uses are free again', async () => {
    const limit = newLimit(5, 60);
    const takeAndFail = () =>
      inTransaction(db.pool, async (client) => {
        await takeUse(client, limit);
        throw new Error('changed its mind');
      });
    const kept = Array.from({ length: 5 }, () => take(limit));
    await Promise.allSettled([...kept, ...Array.from({ length: 15 }, takeAndFail)]);
    const got = taken(await Promise.all(kept));
    expect(got + taken(await takeAtOnce(limit, 10))).toBe(5);
  });
});

describe('time', () => {
  test('agrees with a plain list of times: never too many uses in a window, never a needless refusal', async () => {
    const moves = fc.array(
      fc.record({ moveMs: fc.oneof(fc.constant(0), fc.nat(3_000)), takers: fc.integer({ min: 1, max: 4 }) }),
      {
        minLength: 3,
        maxLength: 20,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 6 }),
        moves,
        async (most, seconds, steps) => {
          const limit = newLimit(most, seconds);
          const uses: number[] = [];
          let now = 0;
          for (const { moveMs, takers } of steps) {
            now += moveMs;
            await db.freeze(`${moveMs} milliseconds`);
            const counting = uses.filter((at) => at > now - seconds * 1_000);
            const free = Math.min(most - counting.length, takers);
            const answers = await takeAtOnce(limit, takers);
            expect(taken(answers)).toBe(free);
            for (let each = 0; each < free; each++) uses.push(now);
            if (free === takers) continue;
            const nextFree = uses.at(-most)! + seconds * 1_000;
            expect(new Set(answers.filter((wait) => wait > 0))).toEqual(new Set([Math.ceil((nextFree - now) / 1_000)]));
          }
          expect(await timesHeld(limit.name)).toBeLessThanOrEqual(most);
        },
      ),
      { numRuns: 40 },
    );
  });
});
