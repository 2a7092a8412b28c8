import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { migratePostgres } from '../../shared/postgres/migrate-postgres.ts';
import { createPool } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import './provided-context.ts';
import { silentLogger } from './silent-logger.ts';

/** Only databases with this prefix are ever created, shifted or dropped by tests. */
const PREFIX = 'forum_test_';

export interface TestDatabase {
  url: string;
  pool: Pool;
  /** Shifts service_now(), for instance by '31 days'. */
  setShift(interval: string): Promise<void>;
  /** Stops service_now() at its present time, or moves it on from where it stands still, for instance by '1 second'. */
  freeze(moveOn?: string): Promise<void>;
  drop(): Promise<void>;
}

/** A fresh database with the newest schema, of this test file alone. */
export async function createTestDatabase(administratorUrl: string = inject('postgresUrl')): Promise<TestDatabase> {
  const name = PREFIX + randomBytes(6).toString('hex');
  await administrate(administratorUrl, `CREATE DATABASE ${name}`);
  const url = withDatabase(administratorUrl, name);
  await migratePostgres(url, silentLogger());
  const pool = createPool({ url, name: 'test', logger: silentLogger(), max: 20 });
  return {
    url,
    pool,
    async setShift(interval) {
      await pool.query('UPDATE service_clock SET shift = $1::interval', [interval]);
    },
    async freeze(moveOn = '0') {
      await pool.query('UPDATE service_clock SET frozen_at = service_now() + $1::interval', [moveOn]);
    },
    async drop() {
      await pool.end();
      await dropTestDatabase(administratorUrl, name);
    },
  };
}

async function dropTestDatabase(administratorUrl: string, name: string): Promise<void> {
  if (!name.startsWith(PREFIX)) throw new Error(`refusing to drop ${name}: not a test's database`);
  await administrate(administratorUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function administrate(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
