import type { Queryable } from '../../postgres/pool.ts';
import type { RequestCredentials } from './request-limits.ts';
import { takeUse } from './sliding-log-limits.ts';

/** Messages that an account may send to the tool server without calling a tool, in any stretch of `seconds`. */
export interface MessageLimit {
  max: number;
  seconds: number;
}

/**
 * Looks up the key or token of a message and takes one use of its account's limit, in one statement. A key or token
 * that may not be used takes nothing.
 *
 * @returns 0 when the message may pass, else the seconds until one may, rounded up; undefined when the key or token is
 * unknown, revoked or expired, or its account is deleted; 'frozen' when its account is frozen
 */
export async function admitMessage(
  db: Queryable,
  asking: RequestCredentials,
  { max, seconds }: MessageLimit,
): Promise<number | 'frozen' | undefined> {
  const isKey = 'keyId' in asking;
  const { rows } = await db.query<{ name: string; status: string; is_taken: boolean }>({
    name: 'admit-message',
    text: ADMIT_MESSAGE,
    values: [
      isKey ? asking.keyId : null,
      isKey ? asking.keyHash : asking.tokenHash,
      isKey ? null : asking.audience,
      max,
      seconds,
    ],
  });
  const [holder] = rows;
  if (holder === undefined) return undefined;
  if (holder.status === 'frozen') return 'frozen';
  return holder.is_taken ? 0 : takeUse(db, { name: holder.name, maxUses: max, seconds });
}

// The two branches of `holder` are those of `known` in request-limits.ts; `taken` is the statement of takeUse.
const ADMIT_MESSAGE = `
  WITH holder AS MATERIALIZED (
    SELECT 'mcp:' || k.account_id AS name, a.status
    FROM api_keys k
    JOIN accounts a ON a.id = k.account_id
    WHERE k.id = $1::text AND k.hash = $2::bytea AND k.revoked_at IS NULL AND a.status <> 'deleted'
    UNION ALL
    SELECT 'mcp:' || t.account_id, a.status
    FROM oauth_records t
    JOIN oauth_records g ON g.id_hash = t.grant_hash
    JOIN accounts a ON a.id = t.account_id
    WHERE t.id_hash = $2::bytea AND t.audience = $3::text
      AND t.model = 'AccessToken' AND t.expires_at > (SELECT service_now())
      AND g.model = 'Grant' AND g.expires_at > (SELECT service_now()) AND a.status <> 'deleted'
  ), taken AS (
    INSERT INTO recent_uses AS stored (name, times, kept_until)
    SELECT name, ARRAY[service_now()], service_now() + make_interval(secs => $5) FROM holder WHERE status = 'active'
    ON CONFLICT (name) DO UPDATE
      SET times = (stored.times || service_now())[greatest(1, cardinality(stored.times) + 2 - $4):],
          kept_until = service_now() + make_interval(secs => $5)
      WHERE cardinality(stored.times) < $4
        OR stored.times[cardinality(stored.times) + 1 - $4] <= service_now() - make_interval(secs => $5)
        OR stored.times[cardinality(stored.times) + 1 - $4] > service_now() + make_interval(secs => $5)
    RETURNING name
  )
  SELECT name, status, EXISTS (SELECT FROM taken) AS is_taken FROM holder`;
