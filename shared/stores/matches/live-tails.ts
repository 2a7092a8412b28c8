import type { LiveTailEnd } from '../../../schemas/api/live-tail.ts';
import type { Queryable } from '../../postgres/pool.ts';
import type { StoredMatch } from '../../domain/match-resource.ts';

/** One of an account's slots for open streams, held by a stream. */
export interface LiveTailSlot {
  accountId: string;
  /** From 1 to the account's limit of open streams; the column `place`. */
  slot: number;
  /** A UUID. */
  streamId: string;
}

/**
 * Takes one of an account's slots that is free or whose lease has expired. Two streams never get the same slot,
 * whichever process asks.
 *
 * @param wanted.most how many slots an account has
 * @returns the slot; `full`: no slot is free; `lost`: another stream took it first, so ask again
 */
export async function takeLiveTailSlot(
  db: Queryable,
  wanted: { accountId: string; streamId: string; most: number; leaseSeconds: number },
): Promise<number | 'full' | 'lost'> {
  const { rows } = await db.query<{ wasFree: boolean; slot: number | null }>(
    `WITH free AS MATERIALIZED (
       SELECT slot
       FROM generate_series(1, $3::integer) AS slots (slot)
       WHERE NOT EXISTS (
         SELECT FROM live_tails t
         WHERE t.account_id = $1 AND t.place = slots.slot AND t.lease_until > (SELECT service_now())
       )
       ORDER BY random()
       LIMIT 1
     ), taken AS (
       INSERT INTO live_tails (account_id, place, stream_id, lease_until)
       SELECT $1, slot, $2, service_now() + make_interval(secs => $4) FROM free
       ON CONFLICT (account_id, place) DO UPDATE SET stream_id = excluded.stream_id, lease_until = excluded.lease_until
         WHERE live_tails.lease_until <= service_now()
       RETURNING place AS slot
     )
     SELECT EXISTS (SELECT FROM free) AS "wasFree", (SELECT slot FROM taken) AS slot`,
    [wanted.accountId, wanted.streamId, wanted.most, wanted.leaseSeconds],
  );
  const { wasFree, slot } = rows[0]!;
  return slot ?? (wasFree ? 'lost' : 'full');
}

/** Renews the leases of open streams. A stream whose slot another stream holds by now is left out. */
export async function renewLiveTailSlots(
  db: Queryable,
  held: readonly LiveTailSlot[],
  leaseSeconds: number,
): Promise<void> {
  await db.query(
    `UPDATE live_tails t
     SET lease_until = service_now() + make_interval(secs => $4)
     FROM unnest($1::text[], $2::smallint[], $3::uuid[]) AS held (account_id, slot, stream_id)
     WHERE t.account_id = held.account_id AND t.place = held.slot AND t.stream_id = held.stream_id`,
    [...columnsOf(held), leaseSeconds],
  );
}

/** Releases slots, so that they are free before their leases expire. */
export async function releaseLiveTailSlots(db: Queryable, held: readonly LiveTailSlot[]): Promise<void> {
  await db.query(
    `DELETE FROM live_tails t
     USING unnest($1::text[], $2::smallint[], $3::uuid[]) AS held (account_id, slot, stream_id)
     WHERE t.account_id = held.account_id AND t.place = held.slot AND t.stream_id = held.stream_id`,
    columnsOf(held),
  );
}

function columnsOf(held: readonly LiveTailSlot[]): [string[], number[], string[]] {
  return [held.map(({ accountId }) => accountId), held.map(({ slot }) => slot), held.map(({ streamId }) => streamId)];
}

/** Deletes at most `limit` slots whose lease has expired, left by processes that were killed. @returns how many */
export async function deleteExpiredLiveTailSlots(db: Queryable, limit: number): Promise<number> {
  const { rowCount } = await db.query(
    `DELETE FROM live_tails
      WHERE (account_id, place) IN (SELECT account_id, place FROM live_tails
                                     WHERE lease_until < (SELECT service_now()) LIMIT $1)
        AND lease_until < (SELECT service_now())`,
    [limit],
  );
  return rowCount ?? 0;
}

/** The number of a monitor's newest match, 0 before the first; undefined when nothing is left of the monitor. */
export async function readLastSeq(db: Queryable, monitorId: string): Promise<number | undefined> {
  const { rows } = await db.query<{ last_seq: number }>('SELECT last_seq FROM monitor_counters WHERE monitor_id = $1', [
    monitorId,
  ]);
  return rows[0]?.last_seq;
}

/** What a stream sends next. */
export interface LiveTailPage {
  /** Why nothing may be sent any more; then there are no matches. */
  end: LiveTailEnd | undefined;
  /** Oldest first. */
  matches: StoredMatch[];
}

type PageRow = { end: LiveTailEnd | null } & (StoredMatch | { seq: null });

/**
 * The first `limit` matches of a monitor behind a seq, when the key may still see them: both at one moment, so that a
 * match recorded after the commit that revoked the key, or froze or deleted what it belongs to, is never among them.
 */
export async function readLiveTailPage(
  db: Queryable,
  asked: { keyId: string; monitorId: string; afterSeq: number; limit: number },
): Promise<LiveTailPage> {
  const { rows } = await db.query<PageRow>(
    `SELECT standing."end", page.*
     FROM (
       SELECT CASE
         WHEN a.status = 'deleted' THEN 'account_deleted'
         WHEN a.status <> 'active' THEN 'account_frozen'
         WHEN k.revoked_at IS NOT NULL THEN 'key_revoked'
         WHEN m.status = 'deleted' THEN 'monitor_deleted'
       END AS "end"
       FROM api_keys k
       JOIN accounts a ON a.id = k.account_id
       JOIN monitors m ON m.account_id = a.id
       WHERE k.id = $1 AND m.id = $2
     ) AS standing
     LEFT JOIN LATERAL (
       SELECT m.seq, m.thing_id AS "thingId", m.kind, m.matched_terms AS "matchedTerms", m.suppressed,
              m.delivery_status AS "deliveryStatus", m.created_at AS "createdAt", m.delivered_at AS "deliveredAt",
              i.post_id AS "postId", i.subreddit, i.author, i.title, i.body, i.permalink, i.created_utc AS "createdUtc"
       FROM matches m
       JOIN matched_items i ON i.thing_id = m.thing_id
       WHERE standing."end" IS NULL AND m.monitor_id = $2 AND m.seq > $3
       ORDER BY m.seq
       LIMIT $4
     ) AS page ON true
     ORDER BY page.seq`,
    [asked.keyId, asked.monitorId, asked.afterSeq, asked.limit],
  );
  const [first] = rows;
  if (first === undefined)
    throw new Error(`key ${asked.keyId} and monitor ${asked.monitorId} are of different accounts`);
  return { end: first.end ?? undefined, matches: rows.filter((row) => row.seq !== null) };
}
