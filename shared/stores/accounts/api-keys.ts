import { newApiKey } from '../../domain/accounts/api-key.ts';
import type { Queryable } from '../../postgres/pool.ts';

/** A key of an account, without anything secret. */
export interface StoredApiKey {
  /** The public part. */
  id: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  /** To the minute; null: never. */
  lastUsedAt: Date | null;
}

/**
 * The key with this public id, and whose it is; undefined when it may not be used now. Its hash is still to be
 * compared.
 */
export async function findUsableApiKey(
  db: Queryable,
  id: string,
): Promise<{ hash: Buffer; accountId: string } | undefined> {
  const { rows } = await db.query<{ hash: Buffer; accountId: string }>(
    `SELECT k.hash, k.account_id AS "accountId"
     FROM api_keys k
     JOIN accounts a ON a.id = k.account_id
     WHERE k.id = $1 AND k.revoked_at IS NULL AND a.status = 'active'`,
    [id],
  );
  return rows[0];
}

/** An account's keys that are not revoked, oldest first. */
export async function listApiKeys(db: Queryable, accountId: string): Promise<StoredApiKey[]> {
  const { rows } = await db.query<StoredApiKey>(
    `SELECT id, name, scopes, created_at AS "createdAt", last_used_at AS "lastUsedAt"
     FROM api_keys
     WHERE account_id = $1 AND revoked_at IS NULL
     ORDER BY created_at, id`,
    [accountId],
  );
  return rows;
}

const ALL_SCOPES = ['forum:read'];

/**
 * Makes a key for an account and returns it whole, for the only time.
 *
 * @param name for people, in lists of keys
 */
export async function issueApiKey(
  db: Queryable,
  accountId: string,
  name: string,
  scopes: readonly string[] = ALL_SCOPES,
): Promise<string> {
  for (;;) {
    const { id, key, hash } = newApiKey();
    if (await insertApiKey(db, { id, accountId, name, hash, scopes })) return key;
  }
}

/** False when the public id, of 40 random bits, is taken. */
async function insertApiKey(
  db: Queryable,
  key: { id: string; accountId: string; name: string; hash: Buffer; scopes: readonly string[] },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO api_keys (id, account_id, name, hash, scopes) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (id) DO NOTHING`,
    [key.id, key.accountId, key.name, key.hash, key.scopes],
  );
  return rowCount === 1;
}

/**
 * Revokes an account's key; requests that come after the commit are refused. False when there is no such key in use.
 */
export async function revokeApiKey(db: Queryable, accountId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE api_keys SET revoked_at = service_now()
     WHERE account_id = $1 AND id = $2 AND revoked_at IS NULL`,
    [accountId, id],
  );
  return rowCount === 1;
}

/** Revokes an account's keys of a name. */
export async function revokeApiKeys(db: Queryable, accountId: string, name: string): Promise<void> {
  await db.query(
    `UPDATE api_keys SET revoked_at = service_now()
     WHERE account_id = $1 AND name = $2 AND revoked_at IS NULL`,
    [accountId, name],
  );
}
