import type { LiveTailEnd } from '../../../schemas/api/live-tail.ts';
import type { Queryable } from '../../postgres/pool.ts';
import type { StoredPageMatch } from './match-pages.ts';

/** One of the places that an account has for open streams, held by a stream. */
export interface LiveTailPlace {
  accountId: string;
  place: number;
  /** A UUID. */
  streamId: string;
}

/**
 * Takes one of an account's places whose lease has run out, or that nobody ever had. Two streams never get the same one, whatever
 * process asks.
 *
 * @param wanted.most how many places there are
 * @returns the place; `full`: there was none; `lost`: another stream was faster, so ask again
 */
export async function takeLiveTailPlace(
  db: Queryable,
  wanted: { accountId: string; streamId: string; most: number; leaseSeconds: number },
): Promise<number | 'full' | 'lost'> {
  const { rows } = await db.query<{ was_free: boolean; place: number | null }>(
    `WITH free AS MATERIALIZED (
       SELECT place
       FROM generate_series(1, $3::integer) AS places (place)
       WHERE NOT EXISTS (
         SELECT FROM live_tails t
         WHERE t.account_id = $1 AND t.place = places.place AND t.lease_until > (SELECT service_now())
       )
       ORDER BY random()
       LIMIT 1
     ), taken AS (
       INSERT INTO live_tails (account_id, place, stream_id, lease_until)
       SELECT $1, place, $2, service_now() + make_interval(secs => $4) FROM free
       ON CONFLICT (account_id, place) DO UPDATE SET stream_id = excluded.stream_id, lease_until = excluded.lease_until
         WHERE live_tails.lease_until <= service_now()
       RETURNING place
     )
     SELECT EXISTS (SELECT FROM free) AS was_free, (SELECT place FROM taken) AS place`,
    [wanted.accountId, wanted.streamId, wanted.most, wanted.leaseSeconds],
  );
  const { was_free: wasFree, place } = rows[0]!;
  return place ?? (wasFree ? 'lost' : 'full');
}

/** Renews the leases of streams that are open. One whose place another stream has by now is left out. */
export async function renewLiveTailPlaces(
  db: Queryable,
  held: readonly LiveTailPlace[],
  leaseSeconds: number,
): Promise<void> {
  await db.query(
    `UPDATE live_tails t
     SET lease_until = service_now() + make_interval(secs => $4)
     FROM unnest($1::text[], $2::smallint[], $3::uuid[]) AS held (account_id, place, stream_id)
     WHERE t.account_id = held.account_id AND t.place = held.place AND t.stream_id = held.stream_id`,
    [...columnsOf(held), leaseSeconds],
  );
}

/** Gives places back, so that nobody need wait for the end of their leases. */
export async function giveUpLiveTailPlaces(db: Queryable, held: readonly LiveTailPlace[]): Promise<void> {
  await db.query(
    `DELETE FROM live_tails t
     USING unnest($1::text[], $2::smallint[], $3::uuid[]) AS held (account_id, place, stream_id)
     WHERE t.account_id = held.account_id AND t.place = held.place AND t.stream_id = held.stream_id`,
    columnsOf(held),
  );
}

function columnsOf(held: readonly LiveTailPlace[]): [string[], number[], string[]] {
  return [held.map(({ accountId }) => accountId), held.map(({ place }) => place), held.map(({ streamId }) => streamId)];
}

/** Deletes places whose lease has run out, left by processes that were killed, at most `limit`; answers how many. */
export async function deleteExpiredLiveTailPlaces(db: Queryable, limit: number): Promise<number> {
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
  matches: StoredPageMatch[];
}

type PageRow = { end: LiveTailEnd | null } & (StoredPageMatch | { seq: null });

/**
 * The first `limit` matches of a monitor behind a seq, when the key may still see them: both at one moment, so that a match recorded
 * after the commit that revoked the key, or froze or deleted what it belongs to, is never among them.
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
       SELECT m.seq, m.thing_id, m.kind, m.matched_terms, m.suppressed, m.delivery_status, m.created_at, m.delivered_at,
              i.post_id, i.subreddit, i.author, i.title, i.body, i.permalink, i.created_utc
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
