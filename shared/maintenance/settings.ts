import { randomBytes } from 'node:crypto';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRow, readRows } from '../postgres/sql.ts';

const SECRET_KEY = 'secret_key';
const LEDGER_MISMATCHES = 'ledger_mismatches';
const CLOCK_SKEW = 'clock_skew_ms';

/** 32 random bytes in base64, created by the first process that asks, for installations without SECRET_KEY. */
export async function ensureSecretKey(db: Queryable): Promise<string> {
  // Waits for a concurrent first writer, whose value stays.
  await execute(db)`
    INSERT INTO settings (name, value) VALUES (${SECRET_KEY},
      ${randomBytes(32).toString('base64')}) ON CONFLICT (name) DO NOTHING`;
  const key = await readSetting(db, SECRET_KEY);
  if (key === undefined) throw new Error('the generated secret key was deleted from settings while it was read');
  return key;
}

/** undefined when none was ever generated. */
export function findSecretKey(db: Queryable): Promise<string | undefined> {
  return readSetting(db, SECRET_KEY);
}

export function storeLedgerMismatches(db: Queryable, count: number): Promise<void> {
  return storeSetting(db, LEDGER_MISMATCHES, count);
}

/** How many accounts the last check of the ledger found wrong; undefined before the first one. */
export async function readLedgerMismatches(db: Queryable): Promise<number | undefined> {
  const stored = await readSetting(db, LEDGER_MISMATCHES);
  return stored === undefined ? undefined : Number(stored);
}

/** Stores by how many milliseconds a broker's clock is ahead of Postgres's; negative: behind. */
export function storeClockSkew(db: Queryable, ms: number): Promise<void> {
  return storeSetting(db, CLOCK_SKEW, ms);
}

/** What was stored in the last ten minutes; undefined when nothing was. */
export async function readClockSkew(db: Queryable): Promise<number | undefined> {
  const rows = await readRows<{ value: string }>(db)`
    SELECT value FROM settings WHERE name = ${CLOCK_SKEW}
      AND created_at > (SELECT service_now()) - interval '10 minutes'`;
  return rows[0] && Number(rows[0].value);
}

async function readSetting(db: Queryable, name: string): Promise<string | undefined> {
  const row = await readRow<{ value: string }>(db)`SELECT value FROM settings WHERE name = ${name}`;
  return row?.value;
}

async function storeSetting(db: Queryable, name: string, value: number): Promise<void> {
  await execute(db)`
    INSERT INTO settings (name, value) VALUES (${name}, ${String(value)})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, created_at = excluded.created_at`;
}
