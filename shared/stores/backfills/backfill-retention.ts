import type { Queryable } from '../../postgres/pool.ts';

/** Deletes runs that ended more than `days` ago, at most `limit`. Returns how many. */
export async function deleteExpiredBackfills(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM backfills
      WHERE id IN (SELECT id FROM backfills
                    WHERE ended_at < (SELECT service_now()) - make_interval(days => $1) ORDER BY ended_at LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}
