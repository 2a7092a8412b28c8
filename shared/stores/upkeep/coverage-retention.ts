import type { Queryable } from '../../postgres/pool.ts';

/** Deletes gaps that were opened more than `days` ago, at most `limit`. Returns how many. */
export async function deleteExpiredGaps(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM crawl_gaps
      WHERE id IN (SELECT id FROM crawl_gaps
                    WHERE opened_at < (SELECT service_now()) - make_interval(days => $1)
                    ORDER BY opened_at LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes what was noted of lost records more than `days` ago, at most `limit`. Returns how many. */
export async function deleteExpiredLostRecords(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM lost_records
      WHERE (consumer_group, topic, partition, from_offset) IN
            (SELECT consumer_group, topic, partition, from_offset FROM lost_records
              WHERE noticed_at < (SELECT service_now()) - make_interval(days => $1)
              ORDER BY noticed_at LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes audit samples of hours more than `days` ago, at most `limit`. Returns how many. */
export async function deleteExpiredAuditSamples(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM audit_samples
      WHERE (hour, post_id) IN (SELECT hour, post_id FROM audit_samples
                                 WHERE hour < (SELECT service_now()) - make_interval(days => $1)
                                 ORDER BY hour, post_id LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes the counts of calls of hours more than `days` ago, at most `limit`. Returns how many. */
export async function deleteExpiredForumCalls(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM forum_calls
      WHERE (hour, lane) IN (SELECT hour, lane FROM forum_calls
                              WHERE hour < (SELECT service_now()) - make_interval(days => $1)
                              ORDER BY hour, lane LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes the coverage of hours more than `days` ago, at most `limit`. Returns how many. */
export async function deleteExpiredCoverage(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM coverage_hours
      WHERE hour IN (SELECT hour FROM coverage_hours
                      WHERE hour < (SELECT service_now()) - make_interval(days => $1)
                      ORDER BY hour LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}
