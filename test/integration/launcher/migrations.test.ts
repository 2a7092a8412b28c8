import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { MigrationUnderWay, migratePostgres } from '../../../shared/postgres/migrate-postgres.ts';
import type { MigrationOptions } from '../../../shared/postgres/migrate-postgres.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestArchive } from '../../support/fixtures/test-clickhouse.ts';
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

const migrate = (options: MigrationOptions = {}) => migratePostgres(db.url, silentLogger(), { folder, ...options });
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
  const error: unknown = await migrate({ pauseMs: 0 }).catch((failure: unknown) => failure);
  await user.query('COMMIT');
  user.release();
  expect(error).toMatchObject({ code: '55P03' });
  expect(isPostgresUnavailable(error)).toBe(true);
  await migrate();
});

test('statements on a table that a change waits for get it within their own limit, and no other process tries meanwhile', async () => {
  await db.pool.query('CREATE TABLE things (id int)');
  write('0001_change.sql', 'ALTER TABLE things ADD COLUMN name text;');
  const user = await db.pool.connect();
  await user.query('BEGIN');
  await user.query('SELECT FROM things');
  const pauses = new AbortController();
  const tries = [1, 2, 3].map(() =>
    migrate({ pauseMs: 600_000, signal: pauses.signal }).catch((failure: unknown) => failure),
  );
  await eventually('a change waits', async () => (await waitingSessions()).length === 1);
  const reader = await db.pool.connect();
  await reader.query(`SET lock_timeout = '4s'`);
  await reader.query('SELECT FROM things');
  reader.release(true);
  // The first one pauses now; the others wait for their turn, not for the table.
  expect(await waitingSessions()).toEqual([]);
  pauses.abort();
  const errors = await Promise.all(tries);
  expect(errors.filter((error) => isPostgresUnavailable(error))).toHaveLength(1);
  expect(errors.filter((error) => error instanceof MigrationUnderWay)).toHaveLength(2);
  await user.query('COMMIT');
  user.release();
  await migrate();
});

test.each(['SELECT pg_terminate_backend(pg_backend_pid())', 'CREATE TABLE others (id int)'])(
  'a connection that is lost while %s runs is an outage, and the next try succeeds',
  async (statement) => {
    write('0001_things.sql', 'CREATE TABLE things (id int);');
    await migrate();
    write('0002_others.sql', `${statement}; SELECT pg_terminate_backend(pg_backend_pid());`);
    const error: unknown = await migrate().catch((failure: unknown) => failure);
    expect(isPostgresUnavailable(error)).toBe(true);
    write('0002_others.sql', 'CREATE TABLE others (id int);');
    await migrate();
    expect(await applied()).toEqual(['0001_things', '0002_others']);
  },
);

test('a connection that is lost before the first file is an outage as well', async () => {
  // The runner creates its table, which waits for ours; the server ends it there.
  const user = await db.pool.connect();
  await user.query('BEGIN');
  await user.query('CREATE TABLE schema_migrations (id serial PRIMARY KEY, name varchar(255), run_on timestamp)');
  const failed = migrate({ pauseMs: 0 }).catch((failure: unknown) => failure);
  const [pid] = await eventually('the runner waits', async () => {
    const waiting = await waitingSessions();
    return waiting.length > 0 && waiting;
  });
  await db.pool.query('SELECT pg_terminate_backend($1)', [pid]);
  expect(isPostgresUnavailable(await failed)).toBe(true);
  await user.query('ROLLBACK');
  user.release();
  await migrate();
});

test('databases of versions before 1.0.0 are refused', async () => {
  await db.pool.query('CREATE TABLE schema_migrations (id serial PRIMARY KEY, name varchar(255), run_on timestamp)');
  await db.pool.query(`INSERT INTO schema_migrations (name, run_on) VALUES ('0001_initial', now())`);
  await expect(migratePostgres(db.url, silentLogger())).rejects.toThrow('from a version before 1.0.0');
  const archive = await createTestArchive(db.pool);
  const values = [{ name: '0001_initial.sql' }];
  await archive.client.insert({ table: 'schema_migrations', values, format: 'JSONEachRow' });
  await expect(migrateClickhouse(archive.client, db.pool, silentLogger())).rejects.toThrow(
    'from a version before 1.0.0',
  );
  await archive.drop();
});

/** The processes of migrations that wait for a table. */
async function waitingSessions(): Promise<number[]> {
  const { rows } = await db.pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'forum-monitor migrations' AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ pid }) => pid);
}
