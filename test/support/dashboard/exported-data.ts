import type { Queryable } from '../../../shared/postgres/pool.ts';

/** A line of an account's export. */
export type ExportLine = { type: string } & Record<string, unknown>;

export function exportLinesOf(text: string): ExportLine[] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as ExportLine);
}

/** Stores the first matches of a monitor, with a delivery attempt each. @param bytes of each body */
export async function insertDeliveredMatches(
  db: Queryable,
  { monitorId, count, bytes = 10 }: { monitorId: string; count: number; bytes?: number },
): Promise<void> {
  await db.query(
    `WITH numbers AS (SELECT n, 't1_' || substr(md5($1 || n), 1, 10) AS thing FROM generate_series(1, $2::int) AS n),
     items AS (
       INSERT INTO matched_items (thing_id, kind, post_id, subreddit, author, title, body, permalink, nsfw, created_utc, kept_until)
       SELECT thing, 'comment', 't3_x', 'rust', 'ada', 'a title', repeat('x', $3), '/r/rust/x', false, service_now(),
         service_now() + interval '1 day' FROM numbers
     ), matches AS (
       INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
         suppressed, first_delivery, delivery_status)
       SELECT $1, n, thing, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'pending', 'delivered'
       FROM numbers
     )
     INSERT INTO delivery_attempts (monitor_id, seq, attempt, started_at, duration_ms, webhook_kind, host, status,
       delivery_status)
     SELECT $1, n, 1, service_now(), 5, 'generic', 'hooks.example.net', 200, 'delivered' FROM numbers`,
    [monitorId, count, bytes],
  );
  await db.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = $1', [monitorId, count]);
}
