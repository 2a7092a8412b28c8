import { randomBytes } from 'node:crypto';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRow, readRows } from '../postgres/sql.ts';
import { createSecretBox } from '../rules/secret-box.ts';
import type { SecretBox } from '../rules/secret-box.ts';

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

export interface SecretKeys {
  secretKey: string;
  /** Open what was sealed before, until it is resealed. */
  previousKeys: readonly string[];
}

export interface SecretKeySettings {
  secretKey: string | undefined;
  secretKeyPrevious: string | undefined;
}

/**
 * The keys of an installation. Where SECRET_KEY is set, the key that was generated before it was is a previous one, so
 * that setting it for the first time is a rotation like any other.
 */
export async function secretKeys(db: Queryable, settings: SecretKeySettings): Promise<SecretKeys> {
  return (
    (await findSecretKeys(db, settings)) ?? {
      secretKey: await ensureSecretKey(db),
      previousKeys: [],
    }
  );
}

/** As secretKeys; undefined where SECRET_KEY is unset and none was generated. */
export async function findSecretKeys(db: Queryable, settings: SecretKeySettings): Promise<SecretKeys | undefined> {
  const { secretKey, secretKeyPrevious } = settings;
  const generated = await findSecretKey(db);
  if (secretKey === undefined) return generated === undefined ? undefined : { secretKey: generated, previousKeys: [] };
  const previousKeys = [secretKeyPrevious, generated].filter(
    (key): key is string => key !== undefined && key !== secretKey,
  );
  return { secretKey, previousKeys };
}

export function secretBoxOf({ secretKey, previousKeys }: SecretKeys): SecretBox {
  return createSecretBox(secretKey, previousKeys);
}

/** Tried with the webhook secret of the newest monitor; undefined while nothing is sealed. */
export async function opensSealed(db: Queryable, box: SecretBox): Promise<boolean | undefined> {
  const newest = await readRow<{ id: string; sealed: Buffer }>(db)`
    SELECT id, webhook_secret AS sealed FROM monitors WHERE webhook_secret <> '' ORDER BY created_at DESC, id LIMIT 1`;
  if (newest === undefined) return undefined;
  try {
    box.open(newest.sealed, newest.id);
    return true;
  } catch {
    return false;
  }
}

/** The clock of Postgres in microseconds since 1970: one clock for all processes. */
export async function readPostgresTime(db: Queryable): Promise<number> {
  const rows = await readRows<{ now: number }>(db)`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::float8 AS now`;
  return Math.floor(rows[0]?.now ?? 0);
}

/** The time of the service (service_now) in milliseconds since 1970. */
export async function readServiceTime(db: Queryable): Promise<number> {
  const { now } = await readOne<{ now: number }>(db)`
    SELECT floor(extract(epoch FROM service_now()) * 1000)::float8 AS now`;
  return now;
}
