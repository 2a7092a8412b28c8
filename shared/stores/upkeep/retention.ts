import type { Queryable } from '../../postgres/pool.ts';

/** Lists the next monitors to clean up after `afterId`, by id. */
export async function listCounterIds(db: Queryable, afterId: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ monitor_id: string }>(
    'SELECT monitor_id FROM monitor_counters WHERE monitor_id > $1 ORDER BY monitor_id LIMIT $2',
    [afterId, limit],
  );
  return rows.map(({ monitor_id }) => monitor_id);
}

/**
 * Deletes a monitor's matches that are older than `days`, from its lowest seq upward, at most `limit`. Returns how
 * many. seq order is time order, so the primary key finds the oldest rows and nothing else is read.
 */
export async function deleteExpiredMatches(
  db: Queryable,
  monitorId: string,
  days: number,
  limit: number,
): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM matches
      WHERE monitor_id = $1
        AND seq <= (SELECT max(seq)
                      FROM (SELECT seq, created_at FROM matches WHERE monitor_id = $1 ORDER BY seq LIMIT $3) AS oldest
                     WHERE created_at < (SELECT service_now()) - make_interval(days => $2))`,
    [monitorId, days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes the attempts of deleted matches, at most `limit`. Returns how many. */
export async function deleteOrphanedAttempts(db: Queryable, monitorId: string, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM delivery_attempts
      WHERE (monitor_id, seq, attempt) IN (
        SELECT monitor_id, seq, attempt FROM delivery_attempts
         WHERE monitor_id = $1
           AND seq < coalesce((SELECT min(seq) FROM matches WHERE monitor_id = $1),
                              (SELECT last_seq + 1 FROM monitor_counters WHERE monitor_id = $1))
         ORDER BY seq, attempt LIMIT $2)`,
    [monitorId, limit],
  );
  return rowCount ?? 0;
}

/**
 * Deletes day counts, rule versions and states older than `days`, except the current version and the state with which
 * these days began. Returns how many.
 */
export async function deleteExpiredHistory(db: Queryable, monitorId: string, days: number): Promise<number> {
  const daysDeleted = await db.query(
    `DELETE FROM monitor_days
      WHERE monitor_id = $1 AND day < ((SELECT service_now()) - make_interval(days => $2))::date`,
    [monitorId, days],
  );
  const versionsDeleted = await db.query(
    `DELETE FROM monitor_versions v
      USING monitors m
      WHERE v.monitor_id = $1 AND m.id = v.monitor_id AND v.version < m.version
        AND v.since < (SELECT service_now()) - make_interval(days => $2)`,
    [monitorId, days],
  );
  const statesDeleted = await db.query(
    `DELETE FROM monitor_states s
      WHERE s.monitor_id = $1
        AND s.at < (SELECT max(at) FROM monitor_states
                     WHERE monitor_id = $1 AND at < (SELECT service_now()) - make_interval(days => $2))`,
    [monitorId, days],
  );
  return [daysDeleted, versionsDeleted, statesDeleted].reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
}

/**
 * Deletes the lock row of a deleted monitor that has nothing left to expire, so that later passes skip it. A recorder
 * that finds no lock row treats the monitor as deleted, which it is. Its last rule version, its states, its health, its
 * mutes, its backfills and its settings are deleted too; the remaining row has only its account and its times. Returns
 * false when something is left.
 */
export async function forgetDeletedMonitor(db: Queryable, monitorId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `WITH forgotten AS (
       DELETE FROM monitor_counters c
        USING monitors m
        WHERE c.monitor_id = $1 AND m.id = c.monitor_id AND m.status = 'deleted'
          AND NOT EXISTS (SELECT 1 FROM matches WHERE monitor_id = $1)
          AND NOT EXISTS (SELECT 1 FROM delivery_attempts WHERE monitor_id = $1)
          AND NOT EXISTS (SELECT 1 FROM monitor_days WHERE monitor_id = $1)
       RETURNING c.monitor_id
     ), health AS (
       DELETE FROM monitor_health h USING forgotten f WHERE h.monitor_id = f.monitor_id
     ), versions AS (
       DELETE FROM monitor_versions v USING forgotten f WHERE v.monitor_id = f.monitor_id
     ), mutes AS (
       DELETE FROM monitor_mutes u USING forgotten f WHERE u.monitor_id = f.monitor_id
     ), feeds AS (
       DELETE FROM feed_tokens t USING forgotten f WHERE t.monitor_id = f.monitor_id
     ), states AS (
       DELETE FROM monitor_states s USING forgotten f WHERE s.monitor_id = f.monitor_id
     ), backfills AS (
       DELETE FROM backfills b USING forgotten f WHERE b.monitor_id = f.monitor_id
     ), emptied AS (
       UPDATE monitors m
          SET name = '', keywords = '{}', exclude = '{}', subreddits = '{}', refinements = NULL, webhook_url = NULL, webhook_kind = NULL,
              webhook_secret = '', previous_webhook_secret = NULL, previous_secret_until = NULL
         FROM forgotten f
        WHERE m.id = f.monitor_id
     )
     SELECT monitor_id FROM forgotten`,
    [monitorId],
  );
  return rowCount === 1;
}

/** Deletes contents that no match needs any more, at most `limit`. Returns how many. */
export async function deleteExpiredItems(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM matched_items
      WHERE thing_id IN (SELECT thing_id FROM matched_items WHERE kept_until < (SELECT service_now())
                          ORDER BY kept_until LIMIT $1)
        AND kept_until < (SELECT service_now())`,
    [limit],
  );
  return rowCount ?? 0;
}

/**
 * Deletes the threads of days more than `days` ago, at most `limit`. Returns how many. The primary key begins with the
 * day, so only rows to delete are read.
 */
export async function deleteExpiredThreads(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM monitor_threads
      WHERE (day, monitor_id, post_id) IN (
        SELECT day, monitor_id, post_id FROM monitor_threads
         WHERE day < ((SELECT service_now()) AT TIME ZONE 'UTC')::date - $1::integer
         ORDER BY day, monitor_id, post_id LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes records of removals older than `days`, at most `limit`. Returns how many. */
export async function deleteExpiredRemovals(db: Queryable, days: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM removed_things
      WHERE thing_id IN (SELECT thing_id FROM removed_things
                          WHERE at < (SELECT service_now()) - make_interval(days => $1) ORDER BY at LIMIT $2)`,
    [days, limit],
  );
  return rowCount ?? 0;
}

/** Deletes answers stored for Idempotency-Key that are older than `hours`, at most `limit`. Returns how many. */
export async function deleteExpiredAnswers(db: Queryable, hours: number, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM idempotency_keys
      WHERE (account_id, route, key) IN (
        SELECT account_id, route, key FROM idempotency_keys
         WHERE created_at < (SELECT service_now()) - make_interval(hours => $1)
         ORDER BY created_at LIMIT $2)
        AND created_at < (SELECT service_now()) - make_interval(hours => $1)`,
    [hours, limit],
  );
  return rowCount ?? 0;
}
