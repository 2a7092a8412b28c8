import { inIndexOrder } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { readOne, readRows } from '../postgres/sql.ts';

/**
 * What reading cost in the last 24 hours, in credits: today's, and of yesterday's the part that is not over. As for the
 * notice of a low balance (`readCreditUses`).
 */
export async function readReadingCredits(db: Queryable, accountId: string): Promise<number> {
  const { credits } = await readOne<{ credits: number }>(db)`
    WITH moment AS MATERIALIZED (
      SELECT now::date AS today, extract(epoch FROM now - now::date)::float8 / 86400 AS elapsed
      FROM (SELECT service_now() AT TIME ZONE 'UTC' AS now) AS utc
    )
    SELECT coalesce(round(sum(
      CASE WHEN u.day = moment.today THEN u.credits ELSE u.credits * (1 - moment.elapsed) END)), 0)::float8 AS credits
    FROM moment
    JOIN usage_days u ON u.account_id = ${accountId} AND u.day BETWEEN moment.today - 1 AND moment.today
      AND u.route LIKE '% /v1/forum/%'`;
  return credits;
}

export interface DayOfMatches {
  /** UTC, YYYY-MM-DD. */
  day: string;
  /** Without suppressed ones. */
  matches: number;
  suppressed: number;
}

/** By UTC day; days without any are missing. */
export async function readMatchesByDay(
  db: Queryable,
  { accountId, from }: { accountId: string; from: string },
): Promise<DayOfMatches[]> {
  return readRows<DayOfMatches>(db)`
    SELECT d.day::text AS day, sum(d.matches)::bigint AS matches, sum(d.suppressed)::bigint AS suppressed
    FROM monitor_days d
    JOIN monitors m ON m.id = d.monitor_id
    WHERE m.account_id = ${accountId} AND m.status <> 'deleted' AND d.day >= ${from}
    GROUP BY d.day
    ORDER BY d.day`;
}

/** Of a monitor since 00:00 UTC. */
export interface TodaysMatches {
  /** Without suppressed ones. */
  matches: number;
  suppressed: number;
  /** Suppressed ones beyond those that are stored. */
  notStored: number;
}

/** Matches since 00:00 UTC by monitor; those without any are absent. */
export async function readMatchesToday(db: Queryable, accountId: string): Promise<Map<string, TodaysMatches>> {
  const rows = await readRows<TodaysMatches & { id: string }>(db)`
    SELECT m.id, sum(d.matches) AS matches, sum(d.suppressed) AS suppressed,
      sum(d.suppressed_not_stored)::bigint AS "notStored"
    FROM monitors m
    JOIN monitor_days d ON d.monitor_id = m.id AND d.day >= ((SELECT service_now()) AT TIME ZONE 'UTC')::date
    WHERE m.account_id = ${accountId} AND m.status <> 'deleted'
    GROUP BY m.id`;
  return new Map(rows.map(({ id, ...today }) => [id, today]));
}

/** The last days, today included, oldest first; with zeros for those without matches. */
export async function readMonitorMatchesByDay(db: Queryable, monitorId: string, days: number): Promise<DayOfMatches[]> {
  return readRows<DayOfMatches>(db)`
    WITH today AS (SELECT ((SELECT service_now()) AT TIME ZONE 'UTC')::date AS day)
    SELECT (today.day - ago)::text AS day, coalesce(d.matches, 0) AS matches, coalesce(d.suppressed, 0) AS suppressed
    FROM today
    CROSS JOIN generate_series(0, ${days}::integer - 1) AS ago
    LEFT JOIN monitor_days d ON d.monitor_id = ${monitorId} AND d.day = today.day - ago
    ORDER BY ago DESC`;
}

export interface HourOfMatches {
  /** Its start. */
  hour: Date;
  /** Without suppressed ones. Null when the hour has matches that were not counted. */
  matches: number | null;
  suppressed: number | null;
}

/** Takes 6 ms. More would take longer than the rest of a page. */
const MOST_COUNTED = 5_000;

/**
 * The last hours, the present one included, oldest first, by the time of recording as for `readMonitorMatchesByDay`.
 * Counts the newest `MOST_COUNTED` matches by the primary key: they have their numbers in the order of their recording.
 */
export async function readMonitorMatchesByHour(pool: Pool, monitorId: string, hours: number): Promise<HourOfMatches[]> {
  return inIndexOrder(
    pool,
    (client) => readRows<HourOfMatches>(client)`
      WITH counted AS MATERIALIZED (
        SELECT date_bin('1 hour', created_at, 'epoch') AS hour, count(*) FILTER (WHERE NOT suppressed) AS matches,
          count(*) FILTER (WHERE suppressed) AS suppressed
        FROM (
          SELECT created_at, suppressed FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT ${MOST_COUNTED}
        ) AS newest
        GROUP BY 1
      ), shown AS (
        SELECT date_bin('1 hour', (SELECT service_now()), 'epoch') - ago * interval '1 hour' AS hour
        FROM generate_series(0, ${hours}::integer - 1) AS ago
      ), cut AS (
        SELECT min(hour) AS hour FROM counted HAVING sum(matches + suppressed) = ${MOST_COUNTED}
      )
      SELECT shown.hour,
        CASE WHEN shown.hour > cut.hour IS NOT false THEN coalesce(matches, 0) END AS matches,
        CASE WHEN shown.hour > cut.hour IS NOT false THEN coalesce(suppressed, 0) END AS suppressed
      FROM shown
      LEFT JOIN cut ON true
      LEFT JOIN counted ON counted.hour = shown.hour
      ORDER BY shown.hour`,
  );
}

/** The terms of the newest matches of a monitor, the most frequent first. */
export async function readMatchesByTerm(
  db: Queryable,
  monitorId: string,
  { newest, limit }: { newest: number; limit: number },
): Promise<{ term: string; matches: number }[]> {
  return readRows<{ term: string; matches: number }>(db)`
    SELECT term, count(*) AS matches
    FROM (SELECT matched_terms FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT ${newest}) AS newest
    CROSS JOIN LATERAL unnest(matched_terms) AS term
    GROUP BY term
    ORDER BY matches DESC, term
    LIMIT ${limit}`;
}

/** The communities of the newest matches of a monitor, the most frequent first. */
export async function readMatchesByCommunity(
  db: Queryable,
  monitorId: string,
  { newest, limit }: { newest: number; limit: number },
): Promise<{ subreddit: string; matches: number }[]> {
  return readRows<{ subreddit: string; matches: number }>(db)`
    SELECT i.subreddit, count(*) AS matches
    FROM (SELECT thing_id FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT ${newest}) AS newest
    JOIN matched_items i ON i.thing_id = newest.thing_id
    GROUP BY i.subreddit
    ORDER BY matches DESC, i.subreddit
    LIMIT ${limit}`;
}
