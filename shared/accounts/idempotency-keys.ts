import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRow, readRows } from '../postgres/sql.ts';

export interface IdempotencyKey {
  accountId: string;
  /** Method and path. */
  route: string;
  key: string;
}

export function contextOfResponse({ accountId, route, key }: IdempotencyKey): string {
  return `idempotency ${accountId} ${route} ${key}`;
}

export interface StoredResponse {
  /** SHA-256 of the body of the answered request. */
  bodyHash: Buffer;
  /** Encrypted. */
  answer: Buffer;
}

/** Responses older than 24 hours do not count. */
export async function findStoredResponse(db: Queryable, key: IdempotencyKey): Promise<StoredResponse | undefined> {
  return readRow<StoredResponse>(db)`
    SELECT body_hash AS "bodyHash", answer
    FROM idempotency_keys
    WHERE account_id = ${key.accountId} AND route = ${key.route} AND key = ${key.key}
      AND created_at > (SELECT service_now()) - interval '24 hours'`;
}

/** So that nobody fills the disk: an answer may have 60 KB. */
export const KEYS_PER_ACCOUNT = 5_000;

/** Seconds until an account that has stored as many answers as it may can store another; 0: now. */
export async function secondsUntilKeyIsFree(db: Queryable, accountId: string): Promise<number> {
  const rows = await readRows<{ seconds: number | null }>(db)`
    SELECT CASE WHEN count(*) >= ${KEYS_PER_ACCOUNT}
      THEN greatest(1, ceil(extract(epoch FROM min(created_at) + interval '24 hours' - service_now())))::integer END AS seconds
    FROM (SELECT created_at FROM idempotency_keys
           WHERE account_id = ${accountId} AND created_at > (SELECT service_now()) - interval '24 hours'
           LIMIT ${KEYS_PER_ACCOUNT}) AS kept`;
  return rows[0]!.seconds ?? 0;
}

/**
 * Claims the key for the request of this transaction. Waits for another transaction that has claimed it.
 *
 * @returns false when a request of the last 24 hours has claimed it; its answer is stored
 */
export async function claimIdempotencyKey(db: Queryable, key: IdempotencyKey, bodyHash: Buffer): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO idempotency_keys AS kept (account_id, route, key, body_hash, answer)
    VALUES (${key.accountId}, ${key.route}, ${key.key}, ${bodyHash}, '')
    ON CONFLICT (account_id, route, key) DO UPDATE
      SET body_hash = excluded.body_hash, answer = '', created_at = service_now()
      WHERE kept.created_at <= service_now() - interval '24 hours'`;
}

/** Call it in the transaction that claimed the key. */
export async function storeResponse(db: Queryable, key: IdempotencyKey, answer: Buffer): Promise<void> {
  await execute(db)`
    UPDATE idempotency_keys SET answer = ${answer} WHERE account_id = ${key.accountId} AND route = ${key.route}
      AND key = ${key.key}`;
}
