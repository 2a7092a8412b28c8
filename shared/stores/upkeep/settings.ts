import { randomBytes } from 'node:crypto';
import type { Queryable } from '../../postgres/pool.ts';

const SECRET_KEY = 'secret_key';

/**
 * The installation's generated secret key: 32 random bytes in base64, made by whichever process asks first and the same
 * for all ever after. For installations that name no SECRET_KEY of their own.
 */
export async function ensureSecretKey(db: Queryable): Promise<string> {
  await keepSetting(db, SECRET_KEY, randomBytes(32).toString('base64'));
  const key = await readSetting(db, SECRET_KEY);
  if (key === undefined) throw new Error('the generated secret key was removed while it was being read');
  return key;
}

/** The generated secret key; undefined where the installation names its own. */
export function findSecretKey(db: Queryable): Promise<string | undefined> {
  return readSetting(db, SECRET_KEY);
}

/** Waits for a concurrent first writer, and leaves what that one wrote. */
async function keepSetting(db: Queryable, name: string, value: string): Promise<void> {
  await db.query('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [name, value]);
}

async function readSetting(db: Queryable, name: string): Promise<string | undefined> {
  const { rows } = await db.query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name]);
  return rows[0]?.value;
}
