import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows } from '../postgres/sql.ts';

/** A thread that the audit read completely. */
export interface StoredAuditSample {
  /** Begin of the time that the sample speaks for: an hour, or a part of one. */
  hour: Date;
  postId: string;
  /** One over the probability with which the thread was chosen. */
  weight: number;
  /** Its comments that had been seen before the audit. */
  seen: number;
  /** All its comments. */
  total: number;
}

/** A thread counts once for each time, as it was stored first. */
export async function saveAuditSamples(db: Queryable, rows: readonly StoredAuditSample[]): Promise<void> {
  await execute(db)`
    INSERT INTO audit_samples (hour, post_id, weight, seen, total)
    SELECT DISTINCT ON (hour, post_id COLLATE "C") hour, post_id, weight, seen, total
      FROM unnest(${rows.map((row) => row.hour)}::timestamptz[], ${rows.map((row) => row.postId)}::text[],
        ${rows.map((row) => row.weight)}::float8[], ${rows.map((row) => row.seen)}::int[],
        ${rows.map((row) => row.total)}::int[])
           WITH ORDINALITY AS sample (hour, post_id, weight, seen, total, n)
     ORDER BY hour, post_id COLLATE "C", n
    ON CONFLICT (hour, post_id) DO NOTHING`;
}

/** The samples of the times that begin from `from` until before `to`. */
export async function readAuditSamples(db: Queryable, from: Date, to: Date): Promise<StoredAuditSample[]> {
  return readRows<StoredAuditSample>(db)`
    SELECT hour, post_id AS "postId", weight, seen, total
      FROM audit_samples WHERE hour >= ${from} AND hour < ${to} ORDER BY hour, post_id`;
}
