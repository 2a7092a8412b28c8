import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
const COMMUNITIES = 200;
const KEYWORDS = 20;
/** Of so many matches one was seen more than ten minutes after its creation. */
const LATE_ONE_IN = 100;

/** The matches of some monitors, the same number for each. */
export interface MatchedMonitors {
  ids: readonly string[];
  /** Of each of them. */
  matches: number;
}

/**
 * Fills matches, items and delivery attempts as the archiver would within 30 days, day by day: frequent communities and
 * keywords as well as rare ones, two keywords in every third match, one attempt a match, one match in a hundred seen
 * late. Each match is an item of its own.
 */
export async function fillTrends(clickhouse: ClickHouseClient, groups: readonly MatchedMonitors[]): Promise<void> {
  const first = Date.now() - DAYS * DAY_MS + 3_600_000;
  const dayMs = (Date.now() - first) / DAYS;
  for (let day = 0; day < DAYS; day++) {
    for (const group of groups) {
      const perDay = Math.ceil(group.matches / DAYS);
      const rows = rowsOf(group, { start: first + day * dayMs, dayMs, before: day * perDay, perDay });
      for (const statement of STATEMENTS) await clickhouse.command({ query: `${statement} FROM (${rows})` });
    }
  }
}

/** Rows with monitor, seq and the time of the first sight. */
function rowsOf(
  { ids }: MatchedMonitors,
  { start, dayMs, before, perDay }: { start: number; dayMs: number; before: number; perDay: number },
): string {
  return `
    SELECT monitor_id, ${before} + number + 1 AS seq, concat('t1_', substring(monitor_id, 5), toString(seq)) AS thing,
      concat('mat_', substring(monitor_id, 5), '_', leftPad(toString(seq), 12, '0')) AS match,
      cityHash64(thing) AS random,
      fromUnixTimestamp64Milli(toInt64(${start} + number * ${dayMs / perDay}), 'UTC') AS seen,
      seen - toIntervalMillisecond(if(random % ${LATE_ONE_IN} = 0, 1200000, 500 + random % 4000)) AS created,
      toString(intDiv(intHash32(seq) % 1000, 1 + seq % 50) % ${COMMUNITIES}) AS community,
      concat('keyword', toString(bitAnd(random, intHash32(random)) % ${KEYWORDS})) AS keyword
    FROM (SELECT arrayJoin([${ids.map((id) => `'${id}'`).join(',')}]) AS monitor_id) AS monitors
    CROSS JOIN (SELECT number FROM numbers(${perDay})) AS numbers`;
}

const STATEMENTS = [
  `INSERT INTO matches (monitor_id, seq, match_id, thing_id, kind, subreddit, matched_terms, suppressed, first_delivery,
     created_utc, first_seen_at, entered_at, created_at)
   SELECT monitor_id, seq, match, thing, 'comment', concat('community', community),
     if(seq % 3 = 0, [keyword, 'keyword0'], [keyword]), false, 'pending', created, seen, seen,
     seen + toIntervalMillisecond(100 + random % 900)`,
  `INSERT INTO delivery_attempts (monitor_id, seq, match_id, attempt, started_at, duration_ms, webhook_kind, host, status,
     error, delivery_status, next_attempt_at)
   SELECT monitor_id, seq, match, 1, seen + toIntervalMillisecond(1100), 20 + random % 300, 'generic', 'hooks.example.com',
     204, '', 'delivered', NULL`,
  `INSERT INTO items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw, source, ver,
     created_utc, first_seen_at)
   SELECT thing, 'comment', 'abc', 't3_abc', concat('community', community), 'smith', 'On rust', 'Iron makes rust.', '',
     false, 'listings', 1, created, seen`,
];
