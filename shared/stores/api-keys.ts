import { newApiKey } from '../domain/api-key.ts';
import type { Queryable } from '../postgres/pool.ts';

/** A key that may be used now, with what every request needs to know of its account: one indexed look-up. */
export interface UsableApiKey {
  id: string;
  /** SHA-256 of the whole key. */
  hash: Buffer;
  scopes: string[];
  account_id: string;
  balance: number;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
}

/**
 * The keys with these public ids, in their order; undefined where there is none, it was revoked, or its account is frozen or
 * deleted. The hashes are still to be compared.
 */
export async function findUsableApiKeys(db: Queryable, ids: readonly string[]): Promise<(UsableApiKey | undefined)[]> {
  const { rows } = await db.query<UsableApiKey>({
    name: 'find-usable-api-keys',
    text: `SELECT k.id, k.hash, k.scopes, k.account_id, a.balance, a.pack
           FROM api_keys k
           JOIN accounts a ON a.id = k.account_id
           WHERE k.id = ANY ($1) AND k.revoked_at IS NULL AND a.status = 'active'`,
    values: [ids],
  });
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id));
}

/**
 * Makes a key for an account and returns it whole, for the only time.
 *
 * @param name for people, in lists of keys
 */
export async function issueApiKey(db: Queryable, accountId: string, name: string): Promise<string> {
  for (;;) {
    const { id, key, hash } = newApiKey();
    if (await insertApiKey(db, { id, accountId, name, hash })) return key;
  }
}

/** False when the public id, of 40 random bits, is taken. */
async function insertApiKey(
  db: Queryable,
  key: { id: string; accountId: string; name: string; hash: Buffer },
): Promise<boolean> {
  const { rowCount } = await db.query(
    'INSERT INTO api_keys (id, account_id, name, hash) VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING',
    [key.id, key.accountId, key.name, key.hash],
  );
  return rowCount === 1;
}

/** Revokes an account's keys of a name; requests that come after the commit are refused. */
export async function revokeApiKeys(db: Queryable, accountId: string, name: string): Promise<void> {
  await db.query(
    `UPDATE api_keys SET revoked_at = service_now()
     WHERE account_id = $1 AND name = $2 AND revoked_at IS NULL`,
    [accountId, name],
  );
}
