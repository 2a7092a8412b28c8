import type { Queryable } from '../../postgres/pool.ts';

export interface NewOAuthRecord {
  model: string;
  idHash: Uint8Array;
  /** id_hash of the grant that the record belongs to. */
  grantHash: Uint8Array | undefined;
  accountId: string | undefined;
  scopes: string[] | undefined;
  audience: string | undefined;
  /** Sealed. */
  payload: Uint8Array;
  validSeconds: number;
}

export interface StoredOAuthRecord {
  payload: Buffer;
  /** Whether another use is a reuse: of a code each, of a refresh token one after a later one of its grant was used. */
  consumed: boolean;
  /** When it was last used, to the microsecond; null before. */
  consumedAt: string | null;
  /** Seconds since it was written. `secondsLeft`: seconds until it expires, rounded up. */
  age: number;
  secondsLeft: number;
}

/** Inserts a record, or replaces the one with this id. */
export async function putOAuthRecord(db: Queryable, record: NewOAuthRecord): Promise<void> {
  await db.query(
    `INSERT INTO oauth_records (id_hash, model, grant_hash, account_id, scopes, audience, payload, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, service_now() + make_interval(secs => $8))
     ON CONFLICT (id_hash) DO UPDATE
       SET payload = excluded.payload, written_at = excluded.written_at,
           expires_at = greatest(oauth_records.expires_at, excluded.expires_at)
       WHERE oauth_records.model = excluded.model`,
    [
      record.idHash,
      record.model,
      record.grantHash ?? null,
      record.accountId ?? null,
      record.scopes ?? null,
      record.audience ?? null,
      record.payload,
      record.validSeconds,
    ],
  );
}

/**
 * Finds a record that has not expired. The refresh token that was used last may be used again: its answer may have been
 * lost, or could not be stored.
 */
export async function findOAuthRecord(
  db: Queryable,
  model: string,
  idHash: Uint8Array,
): Promise<StoredOAuthRecord | undefined> {
  const { rows } = await db.query<StoredOAuthRecord>(
    `SELECT r.payload, r.consumed_at::text AS "consumedAt",
       r.consumed_at IS NOT NULL AND (r.model <> 'RefreshToken' OR EXISTS (
         SELECT FROM oauth_records later
         WHERE later.grant_hash = r.grant_hash AND later.model = 'RefreshToken' AND later.consumed_at > r.consumed_at
       )) AS consumed,
       floor(extract(epoch FROM service_now() - r.written_at))::integer AS age,
       ceil(extract(epoch FROM r.expires_at - service_now()))::integer AS "secondsLeft"
     FROM oauth_records r
     WHERE r.id_hash = $1 AND r.model = $2 AND r.expires_at > (SELECT service_now())`,
    [idHash, model],
  );
  return rows[0];
}

/**
 * Marks a code or a proof as used. Of concurrent callers exactly one succeeds. The record is kept for at least
 * `keptSeconds`, so that a second use is detected.
 *
 * @returns false when it was used before, has expired or does not exist
 */
export async function consumeOAuthRecord(
  db: Queryable,
  model: string,
  idHash: Uint8Array,
  keptSeconds: number,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE oauth_records
     SET consumed_at = service_now(), expires_at = greatest(expires_at, service_now() + make_interval(secs => $3))
     WHERE id_hash = $1 AND model = $2 AND consumed_at IS NULL AND expires_at > (SELECT service_now())`,
    [idHash, model, keptSeconds],
  );
  return rowCount === 1;
}

/**
 * Marks a refresh token as the one of its grant that was used last. All that were issued by now and not used count as
 * used before it: whoever has one of them shares the grant with somebody else. The times only order the uses, so each
 * is later than the ones before, also by another server's clock.
 *
 * @param seen consumedAt when the token was found; of concurrent callers that found the same exactly one succeeds
 * @returns false when it was used since, has expired or does not exist
 */
export async function consumeRefreshToken(db: Queryable, idHash: Uint8Array, seen: string | null): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH locked AS MATERIALIZED (
       SELECT id_hash FROM oauth_records
       WHERE model = 'RefreshToken' AND (id_hash = $1 OR (
         consumed_at IS NULL AND grant_hash = (SELECT grant_hash FROM oauth_records WHERE id_hash = $1)
       ))
       ORDER BY id_hash
       FOR UPDATE
     ), used AS (
       UPDATE oauth_records r
       SET consumed_at = greatest(service_now(), (
         SELECT max(other.consumed_at) + interval '1 millisecond' FROM oauth_records other
         WHERE other.grant_hash = r.grant_hash AND other.model = 'RefreshToken'
       ))
       FROM locked
       WHERE r.id_hash = locked.id_hash AND r.id_hash = $1 AND r.consumed_at IS NOT DISTINCT FROM $2::timestamptz
         AND r.expires_at > (SELECT service_now())
       RETURNING r.id_hash
     ), replaced AS (
       UPDATE oauth_records r SET consumed_at = '-infinity'
       FROM locked, used
       WHERE r.id_hash = locked.id_hash AND r.id_hash <> used.id_hash
     )
     SELECT FROM used`,
    [idHash, seen],
  );
  return rowCount === 1;
}

/** Keeps a client that somebody authorised for `seconds` more. */
export async function allowOAuthClient(db: Queryable, idHash: Uint8Array, seconds: number): Promise<void> {
  await db.query(
    `UPDATE oauth_records
     SET expires_at = greatest(expires_at, service_now() + make_interval(secs => $2))
     WHERE id_hash = $1 AND model IN ('Client', 'ClientDocument')`,
    [idHash, seconds],
  );
}

export async function deleteOAuthRecord(db: Queryable, model: string, idHash: Uint8Array): Promise<void> {
  await db.query('DELETE FROM oauth_records WHERE id_hash = $1 AND model = $2', [idHash, model]);
}

/**
 * Deletes a grant with its codes and tokens. A token that is issued at the same moment is invalid without its grant.
 */
export async function revokeOAuthGrant(db: Queryable, grantHash: Uint8Array): Promise<void> {
  await db.query(
    `WITH locked AS MATERIALIZED (
       SELECT id_hash FROM oauth_records
       WHERE grant_hash = $1 OR (id_hash = $1 AND model = 'Grant')
       ORDER BY id_hash
       FOR UPDATE
     )
     DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash`,
    [grantHash],
  );
}

/** Deletes an account's grants, codes and tokens. */
export async function deleteAccountOAuthRecords(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    `WITH locked AS MATERIALIZED (
       SELECT id_hash FROM oauth_records WHERE account_id = $1 ORDER BY id_hash FOR UPDATE
     )
     DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash`,
    [accountId],
  );
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
  const { rows } = await db.query<{ status: 'active' | 'frozen' }>(
    `SELECT a.status
     FROM oauth_records t
     JOIN oauth_records g ON g.id_hash = t.grant_hash
     JOIN accounts a ON a.id = t.account_id
     WHERE t.id_hash = $1 AND t.model = 'AccessToken' AND t.audience = $2 AND t.expires_at > (SELECT service_now())
       AND g.model = 'Grant' AND g.expires_at > (SELECT service_now()) AND a.status <> 'deleted'`,
    [idHash, audience],
  );
  return rows[0];
}
