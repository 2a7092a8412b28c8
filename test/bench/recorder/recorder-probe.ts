import type { Candidate } from '../../../schemas/messages/monitor-match.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';

/**
 * The baseline of the recorder: a batch's rows written by the same kind of statements, without reading, checking or
 * deciding anything. The statements are copied here, so that they do not change with the recorder.
 */
export async function writeBarely(pool: Pool, batch: Candidate[]): Promise<void> {
  await pool.query({ name: 'probe-items', text: ITEMS, values: itemColumns(batch) });
  const monitorIds = [...new Set(batch.map((candidate) => candidate.monitor_id))].sort();
  await inTransaction(pool, async (client) => {
    const locked = await client.query<{ monitor_id: string; last_seq: number }>({
      name: 'probe-lock',
      text: 'SELECT monitor_id, last_seq FROM monitor_counters WHERE monitor_id = ANY ($1) ORDER BY monitor_id FOR UPDATE',
      values: [monitorIds],
    });
    const next = new Map(locked.rows.map((row) => [row.monitor_id, row.last_seq]));
    const seqs = batch.map((candidate) => {
      const seq = next.get(candidate.monitor_id)! + 1;
      next.set(candidate.monitor_id, seq);
      return seq;
    });
    await client.query({ name: 'probe-counters', text: COUNTERS, values: [[...next.keys()], [...next.values()]] });
    await client.query({ name: 'probe-matches', text: MATCHES, values: matchColumns(batch, seqs) });
  });
}

const ITEMS = `
  INSERT INTO matched_items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw,
    created_utc, kept_until)
  SELECT w.*, now() FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::text[], $10::boolean[], $11::timestamptz[]) AS w
  ON CONFLICT (thing_id) DO NOTHING`;

const COUNTERS = `
  UPDATE monitor_counters c SET last_seq = w.last_seq
  FROM unnest($1::text[], $2::bigint[]) AS w (monitor_id, last_seq) WHERE c.monitor_id = w.monitor_id`;

const MATCHES = `
  INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
    first_delivery, delivery_status, next_attempt_at)
  SELECT w.monitor_id, w.seq, w.thing_id, w.kind, w.entered_at, w.entered_at, now(), '{rust,iron ore}', false, 'pending',
    'pending', now()
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[])
    AS w (monitor_id, seq, thing_id, kind, entered_at)`;

function itemColumns(batch: Candidate[]): unknown[] {
  const items = batch.map((candidate) => candidate.item);
  return [
    items.map((item) => item.thing_id),
    items.map((item) => item.kind),
    items.map((item) => item.post_id),
    items.map((item) => item.parent_id),
    items.map((item) => item.subreddit),
    items.map((item) => item.author),
    items.map((item) => item.title),
    items.map((item) => item.body),
    items.map((item) => item.permalink),
    items.map((item) => item.nsfw),
    items.map((item) => item.created_utc),
  ];
}

function matchColumns(batch: Candidate[], seqs: number[]): unknown[] {
  return [
    batch.map((candidate) => candidate.monitor_id),
    seqs,
    batch.map((candidate) => candidate.item.thing_id),
    batch.map((candidate) => candidate.item.kind),
    batch.map((candidate) => candidate.entered_at),
  ];
}
