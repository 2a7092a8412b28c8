import type { LiveTailEnd } from '../../schemas/api/matches.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRow, readRows } from '../postgres/sql.ts';
import type { StoredMatch } from './rules/match-resource.ts';
import { STORED_MATCHES } from './match-pages.ts';

/** One of an account's slots for open streams, leased by a stream. */
export interface LiveTailSlot {
  accountId: string;
  /** From 1 to the account's limit of open streams; the column `place`. */
  slot: number;
  /** A UUID. */
  streamId: string;
}

/**
 * Takes one of an account's slots that is free or whose lease has expired. Two streams never get the same slot, also
 * across processes.
 *
 * @param stream.maxSlots how many slots the account has
 * @returns the slot; `full` when no slot is free; `lost` when another stream took it first, so that the caller tries
 * again
 */
export async function takeLiveTailSlot(
  db: Queryable,
  stream: { accountId: string; streamId: string; maxSlots: number; leaseSeconds: number },
): Promise<number | 'full' | 'lost'> {
  const { wasFree, slot } = await readOne<{ wasFree: boolean; slot: number | null }>(db)`
    WITH free AS MATERIALIZED (
      SELECT slot
      FROM generate_series(1, ${stream.maxSlots}::integer) AS slots (slot)
      WHERE NOT EXISTS (
        SELECT FROM live_tails t
        WHERE t.account_id = ${stream.accountId} AND t.place = slots.slot AND t.lease_until > (SELECT service_now())
      )
      ORDER BY random()
      LIMIT 1
    ), taken AS (
      INSERT INTO live_tails (account_id, place, stream_id, lease_until)
      SELECT ${stream.accountId}, slot, ${stream.streamId}, service_now() + make_interval(secs =>
        ${stream.leaseSeconds}) FROM free
      ON CONFLICT (account_id, place) DO UPDATE SET stream_id = excluded.stream_id, lease_until = excluded.lease_until
        WHERE live_tails.lease_until <= service_now()
      RETURNING place AS slot
    )
    SELECT EXISTS (SELECT FROM free) AS "wasFree", (SELECT slot FROM taken) AS slot`;
  return slot ?? (wasFree ? 'lost' : 'full');
}

/**
 * Renews the leases of open streams, also of those whose rows were deleted after their leases had expired, but not of
 * those whose slot another stream has taken.
 */
export async function renewLiveTailSlots(
  db: Queryable,
  slots: readonly LiveTailSlot[],
  leaseSeconds: number,
): Promise<void> {
  // Two streams of a process may have one slot: where its lease had expired, the second one took it.
  await execute(db)`
    WITH open AS (
      SELECT * FROM unnest(${slots.map(({ accountId }) => accountId)}::text[], ${slots.map(({ slot }) => slot)}::smallint[],
        ${slots.map(({ streamId }) => streamId)}::uuid[]) AS open (account_id, slot, stream_id)
    ), renewed AS (
      UPDATE live_tails t
      SET lease_until = service_now() + make_interval(secs => ${leaseSeconds})
      FROM open
      WHERE t.account_id = open.account_id AND t.place = open.slot AND t.stream_id = open.stream_id
    )
    INSERT INTO live_tails (account_id, place, stream_id, lease_until)
    SELECT account_id, slot, stream_id, service_now() + make_interval(secs => ${leaseSeconds}) FROM open
    ON CONFLICT (account_id, place) DO NOTHING`;
}

export async function releaseLiveTailSlots(db: Queryable, slots: readonly LiveTailSlot[]): Promise<void> {
  await execute(db)`
    DELETE FROM live_tails t
    USING unnest(${slots.map(({ accountId }) => accountId)}::text[], ${slots.map(({ slot }) => slot)}::smallint[],
      ${slots.map(({ streamId }) => streamId)}::uuid[]) AS open (account_id, slot, stream_id)
    WHERE t.account_id = open.account_id AND t.place = open.slot AND t.stream_id = open.stream_id`;
}

/** 0 before the first match; undefined when the monitor is erased. */
export async function readLastSeq(db: Queryable, monitorId: string): Promise<number | undefined> {
  const row = await readRow<{ last_seq: number }>(db)`
    SELECT last_seq FROM monitor_counters WHERE monitor_id = ${monitorId}`;
  return row?.last_seq;
}

/** The next part of a stream. */
export interface LiveTailPage {
  /** Why the stream must end; there are no matches then. undefined while it may continue. */
  end: LiveTailEnd | undefined;
  /** Oldest first. */
  matches: StoredMatch[];
}

type PageRow = { end: LiveTailEnd | null } & (StoredMatch | { seq: null });

/** Who holds a stream: an API key, or a person's session in the dashboard. */
export interface LiveTailHolder {
  kind: 'key' | 'session';
  id: string;
}

/**
 * Reads the first `limit` matches of a monitor after a seq, if the holder still has access to them. One statement
 * checks and reads in one snapshot, so that a match recorded after the commit that ended the access is never returned.
 */
export async function readLiveTailPage(
  db: Queryable,
  page: { holder: LiveTailHolder; monitorId: string; afterSeq: number; limit: number },
): Promise<LiveTailPage> {
  const rows = await readRows<PageRow>(db)`
    SELECT access."end", page.*
    FROM (
      SELECT CASE
        WHEN a.status = 'deleted' THEN 'account_deleted'
        WHEN a.status <> 'active' THEN 'account_frozen'
        WHEN holder."end" IS NOT NULL THEN holder."end"
        WHEN m.status = 'deleted' THEN 'monitor_deleted'
      END AS "end"
      FROM (
        SELECT account_id, CASE WHEN revoked_at IS NOT NULL THEN 'key_revoked' END AS "end"
        FROM api_keys
        WHERE ${page.holder.kind} = 'key' AND id = ${page.holder.id}
        UNION ALL
        SELECT account_id,
          CASE WHEN ended_at IS NOT NULL OR expires_at <= (SELECT service_now()) THEN 'session_ended' END AS "end"
        FROM dashboard_sessions
        WHERE ${page.holder.kind} = 'session' AND id = ${page.holder.id}
      ) AS holder
      JOIN accounts a ON a.id = holder.account_id
      JOIN monitors m ON m.account_id = a.id
      WHERE m.id = ${page.monitorId}
    ) AS access
    LEFT JOIN LATERAL (
      ${STORED_MATCHES}
      WHERE access."end" IS NULL AND m.monitor_id = ${page.monitorId} AND m.seq > ${page.afterSeq}
      ORDER BY m.seq
      LIMIT ${page.limit}
    ) AS page ON true
    ORDER BY page.seq`;
  const [first] = rows;
  if (first === undefined) {
    // The sessions of a deleted account, and those that expired long ago, have no rows.
    if (page.holder.kind === 'session') return { end: 'session_ended', matches: [] };
    throw new Error(`key ${page.holder.id} and monitor ${page.monitorId} belong to different accounts`);
  }
  return { end: first.end ?? undefined, matches: rows.filter((row) => row.seq !== null) };
}
