import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Lease } from '../../../services/biller/jobs.ts';
import { takeLease } from '../../../shared/maintenance/leases.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(async () => {
  await db.setShift('0');
  await db.pool.query('TRUNCATE leases');
});

const take = (holder: string, seconds = 60) => takeLease(db.pool, { name: 'crawl:a', holder, seconds });

test('a lease of a process that died while the clock was ahead ends a whole lease after the clock is right', async () => {
  await db.setShift('1 hour');
  expect(await take('dead')).toBe(true);
  await db.setShift('0');
  expect(await take('next')).toBe(false);
  await db.setShift('30 seconds');
  expect(await take('next')).toBe(false);
  await db.setShift('100 seconds');
  expect(await take('next')).toBe(true);
});

test('a holder that lives keeps its lease when the clock is set back', async () => {
  await db.setShift('1 hour');
  await take('alive');
  await db.setShift('0');
  expect(await take('other')).toBe(false);
  expect(await take('alive')).toBe(true);
  await db.setShift('30 seconds');
  expect(await take('other')).toBe(false);
});

test('what is kept taken for an hour stays so, unless the clock was ahead', async () => {
  const [mine, other] = [new Lease(db.pool, 'payments', 3_600), new Lease(db.pool, 'payments', 3_600)];
  expect(await mine.mayContinue()).toBe(true);
  await expect(mine.rest(3_601)).rejects.toThrow('payments: kept taken for longer than declared');
  await mine.rest(3_600);
  for (const shift of ['0', '59 minutes', '0']) {
    await db.setShift(shift);
    expect(await other.mayContinue()).toBe(false);
  }
  await db.setShift('-1 day');
  expect(await other.mayContinue()).toBe(false);
  await db.setShift('-1 day +61 seconds');
  expect(await other.mayContinue()).toBe(true);
});
