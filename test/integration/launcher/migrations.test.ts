import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migratePostgres } from '../../../shared/postgres/migrate-postgres.ts';
import { isPostgresAway } from '../../../shared/postgres/postgres-away.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let folder: string;

beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forum-test-migrations-'));
  await db.pool.query('DROP TABLE IF EXISTS schema_migrations, things, others');
  return () => rmSync(folder, { recursive: true });
});

const migrate = () => migratePostgres(db.url, silentLogger(), folder);
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const applied = async () =>
  (await db.pool.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY id')).rows.map(
    ({ name }) => name,
  );

test('each file is a transaction: files before a fault stay applied, the faulty one changes nothing, a retry continues', async () => {
  write('0001_things.sql', 'CREATE TABLE things (id int);');
  write('0002_others.sql', 'CREATE TABLE others (id int); SELECT no_such_function();');
  await expect(migrate()).rejects.toThrow('no_such_function');
  expect(await applied()).toEqual(['0001_things']);
  expect((await db.pool.query(`SELECT to_regclass('others') AS table`)).rows).toEqual([{ table: null }]);
  write('0002_others.sql', 'CREATE TABLE others (id int);');
  await migrate();
  expect(await applied()).toEqual(['0001_things', '0002_others']);
});

test('an index is built while the table is in use, and several processes apply each file once', async () => {
  write('0001_things.sql', 'CREATE TABLE things (id int);');
  write(
    '0002_index.js',
    `export const up = (pgm) => {
       pgm.noTransaction();
       pgm.sql('DROP INDEX IF EXISTS things_id');
       pgm.sql('CREATE INDEX CONCURRENTLY things_id ON things (id)');
     };`,
  );
  await Promise.all([migrate(), migrate(), migrate()]);
  expect(await applied()).toEqual(['0001_things', '0002_index']);
  const { rows } = await db.pool.query(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'things_id'::regclass`);
  expect(rows).toEqual([{ indisvalid: true }]);
});

test('a change waits a limited time for a table that is in use, and can then be retried', async () => {
  await db.pool.query('CREATE TABLE things (id int)');
  write('0001_change.sql', 'ALTER TABLE things ADD COLUMN name text;');
  const user = await db.pool.connect();
  await user.query('BEGIN');
  await user.query('SELECT FROM things');
  const error: unknown = await migrate().catch((failure: unknown) => failure);
  await user.query('COMMIT');
  user.release();
  expect(error).toMatchObject({ code: '55P03' });
  expect(isPostgresAway(error)).toBe(true);
  await migrate();
});
