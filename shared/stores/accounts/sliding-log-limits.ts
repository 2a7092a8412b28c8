import type { Queryable } from '../../postgres/pool.ts';

/** At most `most` uses of a name in any stretch of `seconds`. */
export interface SlidingLogLimit {
  /** What is limited, with its kind: `network:192.0.2.0/24`. */
  name: string;
  most: number;
  seconds: number;
}

/**
 * Takes one use, exactly, whoever else asks: a sliding log, which holds the times of the last uses. Concurrent takers
 * of a name wait for each other's transaction; several names in one transaction are to be taken in the order of the
 * names. A use that a clock which went back has left more than `seconds` in the future does not count.
 *
 * @returns 0 when it was taken; else the seconds until there is one, rounded up: nothing was taken
 */
export async function takeUse(db: Queryable, limit: SlidingLogLimit): Promise<number> {
  const { rowCount } = await db.query(
    `INSERT INTO recent_uses AS held (name, times, kept_until)
     VALUES ($1, ARRAY[service_now()], service_now() + make_interval(secs => $3))
     ON CONFLICT (name) DO UPDATE
       SET times = (held.times || service_now())[greatest(1, cardinality(held.times) + 2 - $2):],
           kept_until = service_now() + make_interval(secs => $3)
       WHERE cardinality(held.times) < $2
         OR held.times[cardinality(held.times) + 1 - $2] <= service_now() - make_interval(secs => $3)
         OR held.times[cardinality(held.times) + 1 - $2] > service_now() + make_interval(secs => $3)`,
    [limit.name, limit.most, limit.seconds],
  );
  return rowCount === 1 ? 0 : secondsUntilUse(db, limit);
}

async function secondsUntilUse(db: Queryable, { name, most, seconds }: SlidingLogLimit): Promise<number> {
  const { rows } = await db.query<{ seconds: number }>(
    `SELECT ceil(extract(epoch FROM times[cardinality(times) + 1 - $2] - service_now()) + $3)::integer AS seconds
     FROM recent_uses
     WHERE name = $1`,
    [name, most, seconds],
  );
  return Math.max(1, rows[0]?.seconds ?? 1);
}

/** Whether there is a use of a name now; takes none. */
export async function hasUse(db: Queryable, { name, most, seconds }: SlidingLogLimit): Promise<boolean> {
  const { rows } = await db.query<{ used_up: boolean }>(
    `SELECT cardinality(times) >= $2
         AND times[cardinality(times) + 1 - $2] > service_now() - make_interval(secs => $3)
         AND times[cardinality(times) + 1 - $2] <= service_now() + make_interval(secs => $3) AS used_up
     FROM recent_uses
     WHERE name = $1`,
    [name, most, seconds],
  );
  return rows[0]?.used_up !== true;
}

/** Gives the last use of a name back that this transaction took, and so holds the lock of. */
export async function returnUse(db: Queryable, name: string): Promise<void> {
  await db.query('UPDATE recent_uses SET times = trim_array(times, 1) WHERE name = $1', [name]);
}

/**
 * Deletes what no longer limits anything, at most `limit` names; answers how many. The rows are locked before they are
 * judged: a name that is taken again at that moment stays.
 */
export async function deleteExpiredUses(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `WITH old AS MATERIALIZED (
       SELECT name FROM recent_uses
       WHERE kept_until <= (SELECT service_now())
       ORDER BY kept_until
       LIMIT $1
       FOR UPDATE SKIP LOCKED
     )
     DELETE FROM recent_uses WHERE name IN (SELECT name FROM old)`,
    [limit],
  );
  return rowCount ?? 0;
}
