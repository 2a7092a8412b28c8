import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SourcePersistence } from '../../../services/crawler/source-persistence.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { readCursor, saveCursor } from '../../../shared/stores/crawl/crawl-cursors.ts';
import { listGaps } from '../../../shared/stores/crawl/crawl-gaps.ts';
import type { CrawlGap } from '../../../shared/stores/crawl/crawl-gaps.ts';
import { takeLease } from '../../../shared/stores/upkeep/leases.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
});

test('a process that was suspended does not overwrite the cursor of the process that acquired its lease', async () => {
  const { pool } = database;
  const lease = { name: 'crawl:listings:comments', seconds: 0 };
  const save = (holder: string, position: unknown) =>
    saveCursor(pool, { source: 'listings:comments', position, lease: { name: lease.name, holder } });
  expect(await takeLease(pool, { ...lease, holder: 'paused' })).toBe(true);
  expect(await save('paused', { at: 1 })).toBe(true);
  expect(await takeLease(pool, { ...lease, holder: 'next' })).toBe(true);
  expect(await save('next', { at: 30 })).toBe(true);
  expect(await save('paused', { at: 2 })).toBe(false);
  expect(await readCursor(pool, 'listings:comments')).toEqual({ at: 30 });
});

function persistenceOf(db: Queryable, source: string, position?: unknown): SourcePersistence {
  return new SourcePersistence({
    db,
    source,
    holder: 'early',
    takeLease: (lease) => takeLease(database.pool, lease),
    outages: { failed: () => undefined, succeeded: () => undefined },
    position: () => position,
    logger: silentLogger(),
    clock: Date.now,
  });
}

test('the first position of a holder is saved at once, so that no successor begins as on the first start', async () => {
  const stopping = new AbortController();
  const position = { at: 1 };
  let queries = 0;
  const db = {
    query: (...args: [string, unknown[]]) => {
      queries += 1;
      return database.pool.query(...args);
    },
  } as Queryable;
  const persistence = persistenceOf(db, 'listings:early', position);
  expect(await persistence.takeLease()).toBe(true);
  expect(await persistence.readCursor()).toBeUndefined();
  const running = persistence.run(stopping.signal, () => undefined);
  const before = queries;
  persistence.markMoved();
  await setImmediate();
  expect(queries, 'it is under way without a wait for the next checkpoint').toBe(before + 1);
  await eventually('the position is saved', async () => {
    return (await readCursor(database.pool, 'listings:early')) !== undefined;
  });
  stopping.abort();
  await running;
});

/** A database during whose next statement of a kind something happens. */
function queueingDuring(kind: 'INSERT' | 'UPDATE', happen: () => void): Queryable {
  let isDue = true;
  return {
    query: async (...args: [string, unknown[]]) => {
      const result = await database.pool.query(...args);
      if (isDue && args[0].includes('INSERT') === (kind === 'INSERT')) {
        isDue = false;
        happen();
      }
      return result;
    },
  } as Queryable;
}

/** The end of every gap of a source, and how many things were found in it; undefined while it is open. */
async function gapsOf(source: string): Promise<[end: string | undefined, found: number | undefined][]> {
  const gaps = await listGaps(database.pool, { from: 0, to: Date.now() + 60_000, limit: 10 });
  return gaps
    .filter((gap) => gap.source === source)
    .map(({ beforeThing, closedAt, found }) => [beforeThing, closedAt === undefined ? undefined : found]);
}

/** A stretch that begins where the one of the number before ends. */
function idGap(source: string, n: number): CrawlGap {
  const things = { afterThing: `t3_${n}`, beforeThing: `t3_${n + 1}` };
  return { source, reason: 'skipped', ...things, afterAt: undefined, beforeAt: undefined };
}

test('a gap that is queued with its end while other gaps are written is written and closed next', async () => {
  const source = 'comment-ids';
  const db = queueingDuring('INSERT', () => {
    persistence.recordGap(idGap(source, 2));
    persistence.closeGap({ beforeThing: 't3_3', found: 3, outcome: 'filled' });
  });
  const persistence = persistenceOf(db, source);
  persistence.recordGap(idGap(source, 1));
  await persistence.writeGaps();
  await persistence.writeGaps();
  expect(await gapsOf(source)).toEqual([
    ['t3_3', 3],
    ['t3_2', undefined],
  ]);
});
