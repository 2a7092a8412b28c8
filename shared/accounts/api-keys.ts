import { KEY_SCOPES } from '../../schemas/api/account.ts';
import type { KeyScope } from '../../schemas/api/account.ts';
import { newApiKey } from './rules/credentials.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRow, readRows } from '../postgres/sql.ts';

/** A key of an account, without its secret. */
export interface StoredApiKey {
  /** The public part. */
  id: string;
  name: string;
  scopes: string[];
  createdAt: Date;
  /** To the minute; null when never used. */
  lastUsedAt: Date | null;
}

/**
 * Finds the key with this public id, and the state of its account. Returns undefined when the key is revoked or the
 * account is deleted. The caller must still compare the hash.
 */
export async function findApiKey(
  db: Queryable,
  id: string,
): Promise<{ hash: Buffer; status: 'active' | 'frozen' } | undefined> {
  return readRow<{ hash: Buffer; status: 'active' | 'frozen' }>(db)`
    SELECT k.hash, a.status
    FROM api_keys k
    JOIN accounts a ON a.id = k.account_id
    WHERE k.id = ${id} AND k.revoked_at IS NULL AND a.status <> 'deleted'`;
}

/** Keys that are not revoked, oldest first. */
export async function listApiKeys(db: Queryable, accountId: string): Promise<StoredApiKey[]> {
  return readRows<StoredApiKey>(db)`
    SELECT id, name, scopes, created_at AS "createdAt", last_used_at AS "lastUsedAt"
    FROM api_keys
    WHERE account_id = ${accountId} AND revoked_at IS NULL
    ORDER BY created_at, id`;
}

/** Returns the key in full. This is the only time that the secret is available. @param name a label for people */
export async function issueApiKey(
  db: Queryable,
  accountId: string,
  name: string,
  scopes: readonly KeyScope[] = KEY_SCOPES,
): Promise<string> {
  for (;;) {
    const { id, key, hash } = newApiKey();
    // The public id has 40 random bits, and may be taken.
    const isNew = await isChanged(db)`
      INSERT INTO api_keys (id, account_id, name, hash, scopes) VALUES (${id}, ${accountId}, ${name}, ${hash}, ${scopes})
      ON CONFLICT (id) DO NOTHING`;
    if (isNew) return key;
  }
}

/**
 * Revokes an account's key. Requests that arrive after the commit are refused. A key that was revoked before stays as
 * it is. Returns false when the account never had this key.
 */
export async function revokeApiKey(db: Queryable, accountId: string, id: string): Promise<boolean> {
  return isChanged(db)`
    UPDATE api_keys SET revoked_at = coalesce(revoked_at, service_now())
    WHERE account_id = ${accountId} AND id = ${id}`;
}

export async function revokeApiKeys(db: Queryable, accountId: string, name: string): Promise<void> {
  await execute(db)`
    UPDATE api_keys SET revoked_at = service_now()
    WHERE account_id = ${accountId} AND name = ${name} AND revoked_at IS NULL`;
}
