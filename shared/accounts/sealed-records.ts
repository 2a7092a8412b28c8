import { hashOAuthId } from './rules/credentials.ts';
import type { SecretBox } from '../rules/secret-box.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRow, readRows } from '../postgres/sql.ts';

export interface NewRecord {
  model: string;
  id: string;
  payload: Record<string, unknown>;
  validSeconds: number;
}

export interface FoundRecord {
  payload: Record<string, unknown>;
  /** Whether another use is a reuse: of a code each, of a refresh token one after a later one of its grant was used. */
  consumed: boolean;
  /** When it was last used, to the microsecond; null before. */
  consumedAt: string | null;
  /** Seconds since it was written. `secondsLeft`: seconds until it expires, rounded up. */
  age: number;
  secondsLeft: number;
}

/**
 * OAuth records addressed by secret ids. Only the hash of an id is stored, and the payload is sealed, so that the
 * database reveals no tokens, codes or client secrets.
 */
export class SealedRecords {
  private readonly db: Queryable;
  private readonly box: SecretBox;

  constructor(db: Queryable, box: SecretBox) {
    this.db = db;
    this.box = box;
  }

  async put({ model, id, payload, validSeconds }: NewRecord): Promise<void> {
    const idHash = hashOAuthId(id);
    const { grantId, accountId, scope, aud } = payload;
    await execute(this.db)`
      INSERT INTO oauth_records (id_hash, model, grant_hash, account_id, scopes, audience, payload, expires_at)
      VALUES (${idHash}, ${model},
        ${typeof grantId === 'string' && model !== 'Interaction' ? hashOAuthId(grantId) : null},
        ${typeof accountId === 'string' ? accountId : null}, ${typeof scope === 'string' ? scope.split(' ') : null},
        ${typeof aud === 'string' ? aud : null},
        ${this.box.seal(JSON.stringify(payload), contextOfRecord(model, idHash))},
        service_now() + make_interval(secs => ${validSeconds}))
      ON CONFLICT (id_hash) DO UPDATE
        SET payload = excluded.payload, written_at = excluded.written_at,
            expires_at = greatest(oauth_records.expires_at, excluded.expires_at)
        WHERE oauth_records.model = excluded.model`;
  }

  /**
   * Finds a record that has not expired. The refresh token that was used last may be used again: its answer may have
   * been lost, or could not be stored.
   */
  async find(model: string, id: string): Promise<FoundRecord | undefined> {
    const idHash = hashOAuthId(id);
    const rows = await readRows<Omit<FoundRecord, 'payload'> & { payload: Buffer }>(this.db)`
      SELECT r.payload, r.consumed_at::text AS "consumedAt",
        r.consumed_at IS NOT NULL AND (r.model <> 'RefreshToken' OR EXISTS (
          SELECT FROM oauth_records later
          WHERE later.grant_hash = r.grant_hash AND later.model = 'RefreshToken' AND later.consumed_at > r.consumed_at
        )) AS consumed,
        floor(extract(epoch FROM service_now() - r.written_at))::integer AS age,
        ceil(extract(epoch FROM r.expires_at - service_now()))::integer AS "secondsLeft"
      FROM oauth_records r
      WHERE r.id_hash = ${idHash} AND r.model = ${model} AND r.expires_at > (SELECT service_now())`;
    const payload = rows[0] && this.unseal(model, idHash, rows[0].payload);
    return payload && { ...rows[0]!, payload };
  }

  /** Returns undefined when it was sealed with another secret key. Its holder must then sign in or register again. */
  unseal(model: string, idHash: Buffer, sealed: Uint8Array): Record<string, unknown> | undefined {
    try {
      return JSON.parse(this.box.open(sealed, contextOfRecord(model, idHash))) as Record<string, unknown>;
    } catch {
      return undefined;
    }
  }

  /**
   * Marks a code or a proof as used. Of concurrent callers exactly one succeeds. The record is kept for at least
   * `keptSeconds`, so that a second use is detected.
   *
   * @returns false when it was used before, has expired or does not exist
   */
  async consume(model: string, id: string, keptSeconds: number): Promise<boolean> {
    return isChanged(this.db)`
      UPDATE oauth_records
      SET consumed_at = service_now(), expires_at = greatest(expires_at,
        service_now() + make_interval(secs => ${keptSeconds}))
      WHERE id_hash = ${hashOAuthId(id)} AND model = ${model} AND consumed_at IS NULL
        AND expires_at > (SELECT service_now())`;
  }

  /**
   * Marks a refresh token as the one of its grant that was used last. All that were issued by now and not used count as
   * used before it: whoever has one of them shares the grant with somebody else. The times only order the uses, so each
   * is later than the ones before, also by another server's clock.
   *
   * @param seen consumedAt when the token was found; of concurrent callers that found the same exactly one succeeds
   * @returns false when it was used since, has expired or does not exist
   */
  async consumeRefreshToken(id: string, seen: string | null): Promise<boolean> {
    const idHash = hashOAuthId(id);
    return isChanged(this.db)`
      WITH locked AS MATERIALIZED (
        SELECT id_hash FROM oauth_records
        WHERE model = 'RefreshToken' AND (id_hash = ${idHash} OR (
          consumed_at IS NULL AND grant_hash = (SELECT grant_hash FROM oauth_records WHERE id_hash = ${idHash})
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
        WHERE r.id_hash = locked.id_hash AND r.id_hash = ${idHash}
          AND r.consumed_at IS NOT DISTINCT FROM ${seen}::timestamptz
          AND r.expires_at > (SELECT service_now())
        RETURNING r.id_hash
      ), replaced AS (
        UPDATE oauth_records r SET consumed_at = '-infinity'
        FROM locked, used
        WHERE r.id_hash = locked.id_hash AND r.id_hash <> used.id_hash
      )
      SELECT FROM used`;
  }

  async delete(model: string, id: string): Promise<void> {
    await execute(this.db)`DELETE FROM oauth_records WHERE id_hash = ${hashOAuthId(id)} AND model = ${model}`;
  }

  /** Keeps a client that somebody authorised for `seconds` more. */
  async allowClient(id: string, seconds: number): Promise<void> {
    await execute(this.db)`
      UPDATE oauth_records
      SET expires_at = greatest(expires_at, service_now() + make_interval(secs => ${seconds}))
      WHERE id_hash = ${hashOAuthId(id)} AND model IN ('Client', 'ClientDocument')`;
  }

  /** Deletes a grant with its codes and tokens. One that is issued at the same moment is invalid without its grant. */
  async revokeGrant(grantId: string): Promise<void> {
    const grantHash = hashOAuthId(grantId);
    await execute(this.db)`
      WITH locked AS MATERIALIZED (
        SELECT id_hash FROM oauth_records
        WHERE grant_hash = ${grantHash} OR (id_hash = ${grantHash} AND model = 'Grant')
        ORDER BY id_hash
        FOR UPDATE
      )
      DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash`;
  }
}

export function contextOfRecord(model: string, idHash: Buffer): string {
  return `oauth ${model} ${idHash.toString('hex')}`;
}

export async function deleteAccountOAuthRecords(db: Queryable, accountId: string): Promise<void> {
  await execute(db)`
    WITH locked AS MATERIALIZED (
      SELECT id_hash FROM oauth_records WHERE account_id = ${accountId} ORDER BY id_hash FOR UPDATE
    )
    DELETE FROM oauth_records r USING locked WHERE r.id_hash = locked.id_hash`;
}

/** Undefined when the token is expired, revoked or for another audience. */
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
