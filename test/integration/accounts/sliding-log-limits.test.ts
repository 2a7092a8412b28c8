import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomText } from '../../../shared/domain/identifiers.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { deleteExpiredUses, takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
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

  test('during the deletion of expired uses: active uses stay', async () => {
    for (let round = 0; round < 15; round++) {
      const limit = newLimit(4, 10);
      await takeAtOnce(limit, 4);
      await db.freeze('10 seconds');
      const sweeps = Array.from({ length: 5 }, () => deleteExpiredUses(db.pool, 100));
      const takers = takeAtOnce(limit, 10);
      const more = Array.from({ length: 5 }, () => deleteExpiredUses(db.pool, 100));
      await Promise.all([...sweeps, ...more]);
      expect(taken(await takers)).toBe(4);
      expect(taken(await takeAtOnce(limit, 5))).toBe(0);
    }
  });
});

describe('time', () => {
  test('a use counts until its window ends, to the millisecond', async () => {
    const limit = newLimit(2, 10);
    expect(await take(limit)).toBe(0);
    await db.freeze('3.001 seconds');
    expect(await take(limit)).toBe(0);
    expect(await take(limit)).toBe(7);
    await db.freeze('6.998 seconds');
    expect(await take(limit)).toBe(1);
    await db.freeze('0.001 seconds');
    expect(await take(limit)).toBe(0);
    // The use at 3.001 s blocks the next one.
    expect(await take(limit)).toBe(4);
  });

  test('refused uses do not count, however many', async () => {
    const limit = newLimit(1, 10);
    await take(limit);
    for (let each = 0; each < 10; each++) {
      await db.freeze('0.9 seconds');
      expect(await take(limit)).toBeGreaterThan(0);
    }
    await db.freeze('1 second');
    expect(await take(limit)).toBe(0);
  });

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

  test('a lowered limit counts earlier uses; a raised one allows more at once', async () => {
    const limit = newLimit(10, 60);
    expect(taken(await takeAtOnce(limit, 10))).toBe(10);
    expect(await take({ ...limit, maxUses: 3 })).toBe(60);
    expect(taken(await takeAtOnce({ ...limit, maxUses: 12 }, 5))).toBe(2);
    await db.freeze('60 seconds');
    expect(taken(await takeAtOnce({ ...limit, maxUses: 3 }, 10))).toBe(3);
    expect(await timesHeld(limit.name)).toBe(3);
  });
});

describe('forgetting', () => {
  test('deletes expired uses, at most as many as requested', async () => {
    await db.pool.query('DELETE FROM recent_uses');
    const [short, long] = [newLimit(2, 10), newLimit(2, 20)];
    for (const limit of [short, { ...short, name: randomText(12) }, { ...short, name: randomText(12) }, long])
      await take(limit);
    await db.freeze('9.999 seconds');
    expect(await deleteExpiredUses(db.pool, 100)).toBe(0);
    await db.freeze('0.001 seconds');
    expect(await deleteExpiredUses(db.pool, 2)).toBe(2);
    expect(await deleteExpiredUses(db.pool, 2)).toBe(1);
    expect([await timesHeld(short.name), await timesHeld(long.name)]).toEqual([0, 1]);
  });
});
