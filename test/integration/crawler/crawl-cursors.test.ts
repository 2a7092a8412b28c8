import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCursor, saveCursor } from '../../../shared/stores/crawl/crawl-cursors.ts';
import { takeLease } from '../../../shared/stores/upkeep/leases.ts';
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
