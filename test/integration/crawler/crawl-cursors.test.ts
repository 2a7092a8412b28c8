import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SourcePersistence } from '../../../services/crawler/source-persistence.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { readCursor, saveCursor } from '../../../shared/stores/crawl/crawl-cursors.ts';
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
  const persistence = new SourcePersistence({
    db,
    source: 'listings:early',
    holder: 'early',
    takeLease: (lease) => takeLease(database.pool, lease),
    outages: { failed: () => undefined, succeeded: () => undefined },
    position: () => position,
    logger: silentLogger(),
    clock: Date.now,
  });
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
