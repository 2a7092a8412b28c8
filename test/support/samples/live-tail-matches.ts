import type { Queryable } from '../../../shared/postgres/pool.ts';

/**
 * Records the next matches of a monitor as the recorder's transaction does: the counter is locked and moved together
 * with the rows.
 *
 * @param bodyLength characters of each body
 */
export async function recordMatches(db: Queryable, monitorId: string, count: number, bodyLength = 20): Promise<void> {
  await db.query(
    `WITH counter AS (
       UPDATE monitor_counters SET last_seq = last_seq + $2, last_match_at = service_now() WHERE monitor_id = $1
       RETURNING last_seq
     ), thing AS (
       SELECT seq, 't1_' || right($1, 6) || lpad(seq::text, 6, '0') AS id
       FROM counter CROSS JOIN LATERAL generate_series(last_seq - $2 + 1, last_seq) AS seq
     ), item AS (
       INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
       SELECT id, 'comment', 'abc', 'rust', 'ada', E'A title\\nof two lines', repeat('é', $3::int), 'https://forum.example/' || seq, false,
              '2026-01-02T03:04:05Z', service_now() + interval '33 days'
       FROM thing
     )
     INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
                          first_delivery, delivery_status)
     SELECT $1, seq, id, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'none', 'none' FROM thing`,
    [monitorId, count, bodyLength],
  );
}
