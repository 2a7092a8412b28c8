import type { Queryable } from '../../postgres/pool.ts';

/** An OAuth grant as stored. Everything but its times is in the sealed payload. */
export interface StoredGrant {
  idHash: Buffer;
  payload: Buffer;
  grantedAt: Date;
  /** To the minute; null when never used. */
  lastUsedAt: Date | null;
}

/** Lists an account's grants that have not expired, newest first, at most `limit`. */
export async function listOAuthGrants(db: Queryable, accountId: string, limit: number): Promise<StoredGrant[]> {
  const { rows } = await db.query<StoredGrant>(
    `SELECT id_hash AS "idHash", payload, written_at AS "grantedAt", last_used_at AS "lastUsedAt"
     FROM oauth_records
     WHERE account_id = $1 AND model = 'Grant' AND expires_at > (SELECT service_now())
     ORDER BY written_at DESC, id_hash
     LIMIT $2`,
    [accountId, limit],
  );
  return rows;
}

/**
 * Revokes a grant of an account with its codes and tokens. Every process refuses requests that arrive after the commit.
 * Until the grant would have expired, it is known as revoked, so that a repeated request is answered like the first.
 *
 * @param hashStart the first bytes of its id_hash
 * @returns false when the account has no such grant
 */
export async function revokeAccountGrant(db: Queryable, accountId: string, hashStart: Uint8Array): Promise<boolean> {
  const { rows } = await db.query<{ id_hash: Buffer; model: string }>(
    `SELECT id_hash, model FROM oauth_records
     WHERE account_id = $1 AND model IN ('Grant', 'RevokedGrant') AND substring(id_hash FOR $3) = $2
       AND expires_at > (SELECT service_now())`,
    [accountId, hashStart, hashStart.length],
  );
  if (rows[0] === undefined) return false;
  if (rows[0].model === 'Grant') await markRevoked(db, rows[0].id_hash);
  return true;
}

/** A token that is issued at the same moment is invalid without its grant. */
async function markRevoked(db: Queryable, grantHash: Uint8Array): Promise<void> {
  await db.query(
    `WITH locked AS MATERIALIZED (
       SELECT id_hash FROM oauth_records
       WHERE grant_hash = $1 OR (id_hash = $1 AND model = 'Grant')
       ORDER BY id_hash
       FOR UPDATE
     ), revoked AS (
       UPDATE oauth_records r SET model = 'RevokedGrant', payload = ''
       FROM locked
       WHERE r.id_hash = locked.id_hash AND r.id_hash = $1
     )
     DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash AND r.id_hash <> $1`,
    [grantHash],
  );
}
