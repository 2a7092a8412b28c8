import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { eachInTransaction } from '../../../shared/postgres/statement-in-transaction.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
/** With one connection, so that what one statement leaves behind meets the next. */
let pool: Pool;

beforeAll(async () => {
  db = await createTestDatabase();
  pool = createPool({ url: db.url, name: 'each', logger: silentLogger(), max: 1 });
  await pool.query('CREATE TABLE marks (mark int UNIQUE)');
});
afterAll(async () => {
  await pool.end();
  await db.drop();
});
beforeEach(async () => {
  await db.pool.query('TRUNCATE marks');
});

const MARK = { name: 'mark', text: 'INSERT INTO marks VALUES ($1) RETURNING mark' };

async function marks(): Promise<unknown[]> {
  const { rows } = await db.pool.query<{ mark: number }>('SELECT mark FROM marks ORDER BY mark');
  return rows.map(({ mark }) => mark);
}

test('a statement that fails changes nothing, and the next ones work, also the same one', async () => {
  const db = eachInTransaction(pool);
  await db.query({ ...MARK, values: [1] });
  await expect(db.query({ ...MARK, values: [1] })).rejects.toMatchObject({ code: '23505' });
  await expect(db.query({ name: 'wrong', text: 'SELECT nonsense' })).rejects.toMatchObject({ code: '42703' });
  await expect(db.query({ name: 'wrong', text: 'SELECT nonsense' })).rejects.toMatchObject({ code: '42703' });
  await db.query({ ...MARK, values: [2] });
  expect(await marks()).toEqual([1, 2]);
});

test('a COMMIT that fails is an error: a deferred constraint', async () => {
  const db = eachInTransaction(pool);
  await pool.query('CREATE TABLE deferred (mark int UNIQUE DEFERRABLE INITIALLY DEFERRED)');
  const insert = { name: 'deferred', text: 'INSERT INTO deferred VALUES ($1)' };
  await db.query({ ...insert, values: [1] });
  await expect(db.query({ ...insert, values: [1] })).rejects.toMatchObject({ code: '23505' });
  expect((await pool.query('SELECT FROM deferred')).rowCount).toBe(1);
});
