import type { Queryable } from '../../postgres/pool.ts';
import { execute, readRow } from '../../postgres/sql.ts';

/** Deletes an account's grants, codes and tokens. */
export async function deleteAccountOAuthRecords(db: Queryable, accountId: string): Promise<void> {
  await execute(db)`
    WITH locked AS MATERIALIZED (
      SELECT id_hash FROM oauth_records WHERE account_id = ${accountId} ORDER BY id_hash FOR UPDATE
    )
    DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash`;
}

/**
 * Finds an access token and the state of its account; undefined when the token is expired, revoked or for another
 * audience.
 */
export async function findAccessToken(
  db: Queryable,
  idHash: Uint8Array,
  audience: string,
): Promise<{ status: 'active' | 'frozen' } | undefined> {
  return readRow<{ status: 'active' | 'frozen' }>(db)`
    SELECT a.status
    FROM oauth_records t
    JOIN oauth_records g ON g.id_hash = t.grant_hash
    JOIN accounts a ON a.id = t.account_id
    WHERE t.id_hash = ${idHash} AND t.model = 'AccessToken' AND t.audience = ${audience}
      AND t.expires_at > (SELECT service_now())
      AND g.model = 'Grant' AND g.expires_at > (SELECT service_now()) AND a.status <> 'deleted'`;
}
