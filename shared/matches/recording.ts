import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { RecordedMatch, SuppressedReason } from '../../schemas/messages/monitor-match.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows, sql } from '../postgres/sql.ts';
import { matchId } from '../rules/identifiers.ts';
import type { CounterAdvance, NumberedMatch } from './rules/match-decision.ts';

/** A monitor that has reached the ceiling of suppressed matches today. */
export interface SuppressedMonitor {
  monitorId: string;
  /** Today's UTC date (YYYY-MM-DD). */
  day: string;
  /** Unsuppressed matches of the day. */
  matchesOfDay: number;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  threadOnce: boolean;
}

/** The monitors that have reached the ceiling today. Read without a lock, so it may be out of date. */
export async function findSuppressedMonitors(
  db: Queryable,
  monitorIds: readonly string[],
  suppressedPerDay: number,
): Promise<SuppressedMonitor[]> {
  return readRows<SuppressedMonitor>(db, 'recording-find-suppressed-monitors')`
    SELECT d.monitor_id AS "monitorId", d.day::text, d.matches AS "matchesOfDay", a.pack,
      m.thread_once AS "threadOnce"
    FROM monitor_days d
    JOIN monitors m ON m.id = d.monitor_id
    JOIN accounts a ON a.id = m.account_id
    WHERE d.monitor_id = ANY (${monitorIds}::text[]) AND d.day = ((SELECT service_now()) AT TIME ZONE 'UTC')::date
      AND d.suppressed >= ${suppressedPerDay}`;
}

/** Finds which of the given items have content that is kept long enough, and which the forum removed. */
export async function findKnownItems(
  db: Queryable,
  thingIds: readonly string[],
): Promise<{ kept: Set<string>; removed: Set<string> }> {
  const rows = await readRows<{ thing_id: string; removed: boolean }>(db, 'recording-find-known-things')`
    SELECT thing_id, false AS removed FROM matched_items
    WHERE thing_id = ANY (${thingIds}::text[]) AND kept_until >= (SELECT service_now()) + interval '32 days'
    UNION ALL
    SELECT thing_id, true FROM removed_things WHERE thing_id = ANY (${thingIds}::text[])`;
  const ids = (removed: boolean) => rows.filter((row) => row.removed === removed).map((row) => row.thing_id);
  return { kept: new Set(ids(false)), removed: new Set(ids(true)) };
}

/**
 * Stores content that is not stored yet, and keeps all of it for 33 days from now: longer than any match of it (30
 * days), with room for candidates that arrive late. Stored content is not changed.
 *
 * Does not wait for the disk, nor for a standby, so that recorders that store the same items wait less for each other:
 * the commit of the first match that refers to the content waits for both, and for everything that was written before
 * it. A transaction that runs this would not wait either, so it must run in none.
 *
 * @param items sorted by thing_id, each once, so that two recorders lock the rows in the same order
 */
export async function storeItems(db: Queryable, items: readonly ItemContent[]): Promise<void> {
  await execute(db, 'recording-keep-items')`
    WITH async_commit AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
    INSERT INTO matched_items (thing_id, kind, post_id, parent_id, subreddit, author, title, body, permalink, nsfw,
      created_utc, kept_until)
    SELECT item.*, (SELECT service_now()) + interval '33 days'
    FROM async_commit, unnest(${items.map((item) => item.thing_id)}::text[], ${items.map((item) => item.kind)}::text[],
      ${items.map((item) => item.post_id)}::text[], ${items.map((item) => item.parent_id)}::text[],
      ${items.map((item) => item.subreddit)}::text[], ${items.map((item) => item.author)}::text[],
      ${items.map((item) => item.title)}::text[],
      ${items.map((item) => item.body)}::text[], ${items.map((item) => item.permalink)}::text[],
        ${items.map((item) => item.nsfw)}::boolean[], ${items.map((item) => item.created_utc)}::timestamptz[]) AS item
    ON CONFLICT (thing_id) DO UPDATE SET kept_until = greatest(matched_items.kept_until, excluded.kept_until)`;
}

type ItemRow = Omit<ItemContent, 'created_utc'> & { created_utc: Date; removed: boolean };

/** Reads stored content, with whether the forum removed the item. */
export async function readItems(
  db: Queryable,
  thingIds: readonly string[],
): Promise<{ item: ItemContent; removed: boolean }[]> {
  const rows = await readRows<ItemRow>(db, 'recording-read-items')`
    SELECT i.thing_id, i.kind, i.post_id, i.parent_id, i.subreddit, i.author, i.title, i.body, i.permalink, i.nsfw,
      i.created_utc,
      i.thing_id IN (SELECT thing_id FROM removed_things WHERE thing_id = ANY (${thingIds}::text[])) AS removed
    FROM matched_items i
    WHERE i.thing_id = ANY (${thingIds}::text[])`;
  return rows.map(({ removed, created_utc, ...content }) => ({
    item: { ...content, created_utc: created_utc.toISOString() },
    removed,
  }));
}

/** Overwrites author, title and body of stored items. */
export async function overwriteItems(db: Queryable, items: readonly ItemContent[]): Promise<void> {
  await execute(db, 'recording-overwrite-items')`
    UPDATE matched_items i SET author = item.author, title = item.title, body = item.body
    FROM unnest(${items.map((item) => item.thing_id)}::text[], ${items.map((item) => item.author)}::text[],
      ${items.map((item) => item.title)}::text[], ${items.map((item) => item.body)}::text[]) AS item (thing_id, author,
      title, body)
    WHERE i.thing_id = item.thing_id`;
}

/** A monitor and its counters, read under its lock. */
export interface RecordingMonitor {
  monitorId: string;
  status: string;
  version: number;
  activeSince: Date;
  hasWebhook: boolean;
  /** Whether its matches are sent together, and none by itself. */
  hasDigest: boolean;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  lastSeq: number;
  lastMatchAt: Date | null;
  /** UTC date (YYYY-MM-DD) of new matches: today, or the last match's day when the clock was set back. */
  day: string;
  /** Unsuppressed matches of that day. */
  matchesOfDay: number;
  /** Stored suppressed matches of that day. */
  suppressedOfDay: number;
  /**
   * The latest entered_at of a candidate that was not stored because it was beyond the ceiling of suppressed matches.
   */
  notStoredUntil: Date | null;
  /** The same for candidates suppressed for their thread. */
  threadsNotStoredUntil: Date | null;
  /** Whether a thread has at most one unsuppressed match a day. */
  threadOnce: boolean;
  hasMutes: boolean;
  /** service_now() of this statement. */
  now: Date;
}

/** Takes the monitors' locks until the transaction ends, in the order of their ids, as every service does. */
export async function lockRecordingMonitors(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db, 'recording-lock-monitors')`
    SELECT FROM monitor_counters
    WHERE monitor_id = ANY (${monitorIds}::text[])
    ORDER BY monitor_id
    FOR UPDATE`;
}

/**
 * Reads monitors by id, without those that have no counters row. Run it after the lock in a separate statement: the
 * snapshot of a statement is older than a lock that it waits for.
 */
export async function readRecordingMonitors(
  db: Queryable,
  monitorIds: readonly string[],
): Promise<Map<string, RecordingMonitor>> {
  const rows = await readRows<RecordingMonitor>(db, 'recording-read-monitors')`
    WITH clock AS MATERIALIZED (SELECT service_now() AS now)
    SELECT c.monitor_id AS "monitorId", m.status, m.version, m.active_since AS "activeSince",
      m.webhook_url IS NOT NULL AS "hasWebhook", m.digest IS NOT NULL AS "hasDigest", a.pack, c.last_seq AS "lastSeq",
      c.last_match_at AS "lastMatchAt", today.day::text AS day, coalesce(d.matches, 0) AS "matchesOfDay",
      coalesce(d.suppressed, 0) AS "suppressedOfDay", c.not_stored_until AS "notStoredUntil",
      c.threads_not_stored_until AS "threadsNotStoredUntil", m.thread_once AS "threadOnce",
      muted.found IS NOT NULL AS "hasMutes", clock.now
    FROM clock, monitor_counters c
    JOIN monitors m ON m.id = c.monitor_id
    JOIN accounts a ON a.id = m.account_id
    CROSS JOIN LATERAL (SELECT greatest(c.last_day, (clock.now AT TIME ZONE 'UTC')::date) AS day) AS today
    LEFT JOIN monitor_days d ON d.monitor_id = c.monitor_id AND d.day = today.day
    LEFT JOIN LATERAL (
      SELECT true AS found FROM monitor_mutes u WHERE u.monitor_id = c.monitor_id LIMIT 1
    ) AS muted ON true
    WHERE c.monitor_id = ANY (${monitorIds}::text[])`;
  return new Map(rows.map((monitor) => [monitor.monitorId, monitor]));
}

export interface RuleVersion {
  monitorId: string;
  version: number;
}

/** Reads when each of the given rule versions began. Versions that never began or were deleted are missing. */
export async function readVersionStarts(
  db: Queryable,
  versions: readonly RuleVersion[],
): Promise<(RuleVersion & { since: Date })[]> {
  return readRows<RuleVersion & { since: Date }>(db, 'recording-read-version-starts')`
    SELECT v.monitor_id AS "monitorId", v.version, v.since
    FROM unnest(${versions.map(({ monitorId }) => monitorId)}::text[],
      ${versions.map(({ version }) => version)}::integer[]) AS asked (monitor_id, version)
    JOIN monitor_versions v ON v.monitor_id = asked.monitor_id AND v.version = asked.version`;
}

export type FirstStoredMatch = Omit<NumberedMatch, 'nextAttemptAt' | 'postId'>;

type MatchRow = Omit<FirstStoredMatch, 'enteredAt' | 'firstSeenAt' | 'createdAt' | 'suppressedReason'> & {
  enteredAt: Date;
  firstSeenAt: Date;
  createdAt: Date;
  suppressedReason: SuppressedReason | null;
};

const COLUMNS = sql`monitor_id AS "monitorId", seq, thing_id AS "thingId", kind, entered_at AS "enteredAt",
  first_seen_at AS "firstSeenAt", created_at AS "createdAt", matched_terms AS "matchedTerms", suppressed,
  suppressed_reason AS "suppressedReason", first_delivery AS "firstDelivery", backfill`;

/**
 * Finds the matches that are already stored for the given (monitor, item) pairs, by monitor and seq.
 *
 * Each pair is looked up by itself: a join could be planned, and the plan kept, while the table is nearly empty, and
 * would then read the whole table each time until its statistics follow.
 */
export async function findStoredMatches(
  db: Queryable,
  pairs: readonly { monitorId: string; thingId: string }[],
): Promise<FirstStoredMatch[]> {
  const rows = await readRows<MatchRow>(db, 'recording-find-stored-matches')`
    SELECT m.*
    FROM unnest(${pairs.map((pair) => pair.monitorId)}::text[],
      ${pairs.map((pair) => pair.thingId)}::text[]) AS pair (of_monitor, thing)
    CROSS JOIN LATERAL (
      SELECT ${COLUMNS} FROM matches WHERE monitor_id = of_monitor AND thing_id = thing LIMIT 1
    ) m
    ORDER BY m."monitorId", m.seq`;
  return rows.map(toFirstStored);
}

/** Reads the first `limit` matches of a monitor that backfills recorded, by seq, in a range of seqs. */
export async function readBackfilledMatches(
  db: Queryable,
  monitorId: string,
  { after, last }: { after: number; last: number },
  limit: number,
): Promise<FirstStoredMatch[]> {
  const rows = await readRows<MatchRow>(db)`
    SELECT ${COLUMNS} FROM matches
    WHERE monitor_id = ${monitorId} AND seq > ${after} AND seq <= ${last} AND backfill
    ORDER BY seq
    LIMIT ${limit}`;
  return rows.map(toFirstStored);
}

/** Reads the matches of all monitors, in the order of (monitor, seq). */
export async function readMatchesAfter(
  db: Queryable,
  after: { monitorId: string; seq: number },
  limit: number,
): Promise<FirstStoredMatch[]> {
  const rows = await readRows<MatchRow>(db)`
    SELECT ${COLUMNS} FROM matches
    WHERE (monitor_id, seq) > (${after.monitorId}, ${after.seq})
    ORDER BY monitor_id, seq
    LIMIT ${limit}`;
  return rows.map(toFirstStored);
}

function toFirstStored({ enteredAt, firstSeenAt, createdAt, suppressedReason, ...match }: MatchRow): FirstStoredMatch {
  return {
    ...match,
    enteredAt: enteredAt.toISOString(),
    firstSeenAt: firstSeenAt.toISOString(),
    createdAt: createdAt.toISOString(),
    suppressedReason: suppressedReason ?? undefined,
  };
}

/**
 * Adds new matches and candidates that were not stored to the day counts. @param advances sorted by monitor, each once
 */
export async function addToMonitorDays(db: Queryable, advances: readonly CounterAdvance[]): Promise<void> {
  await execute(db, 'recording-add-to-monitor-days')`
    INSERT INTO monitor_days (monitor_id, day, matches, suppressed, suppressed_not_stored)
    SELECT * FROM unnest(${advances.map((advance) => advance.monitorId)}::text[],
      ${advances.map((advance) => advance.day)}::date[], ${advances.map((advance) => advance.matches)}::integer[],
      ${advances.map((advance) => advance.suppressed)}::integer[],
      ${advances.map((advance) => advance.notStored)}::bigint[])
    ON CONFLICT (monitor_id, day) DO UPDATE
      SET matches = monitor_days.matches + excluded.matches,
        suppressed = monitor_days.suppressed + excluded.suppressed,
        suppressed_not_stored = monitor_days.suppressed_not_stored + excluded.suppressed_not_stored`;
}

export async function advanceCounters(db: Queryable, advances: readonly CounterAdvance[]): Promise<void> {
  await execute(db, 'recording-advance-counters')`
    UPDATE monitor_counters c
    SET last_seq = advance.last_seq, last_match_at = advance.last_match_at, last_day = advance.last_day,
      not_stored_until = greatest(c.not_stored_until, advance.not_stored_until),
      threads_not_stored_until = greatest(c.threads_not_stored_until, advance.threads_not_stored_until)
    FROM unnest(${advances.map((advance) => advance.monitorId)}::text[],
      ${advances.map((advance) => advance.lastSeq)}::bigint[],
      ${advances.map((advance) => advance.lastMatchAt)}::timestamptz[],
      ${advances.map((advance) => advance.day)}::date[],
      ${advances.map((advance) => advance.notStoredUntil)}::timestamptz[],
      ${advances.map((advance) => advance.threadsNotStoredUntil)}::timestamptz[])
      AS advance (monitor_id, last_seq, last_match_at, last_day, not_stored_until, threads_not_stored_until)
    WHERE c.monitor_id = advance.monitor_id`;
}

/** @param matches sorted by monitor and seq */
export async function insertMatches(db: Queryable, matches: readonly NumberedMatch[]): Promise<void> {
  await execute(db, 'recording-insert-matches')`
    INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
      suppressed, suppressed_reason, first_delivery, delivery_status, next_attempt_at, backfill)
    SELECT monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms::text[], suppressed,
      suppressed_reason, first_delivery, first_delivery, next_attempt_at, backfill
    FROM unnest(${matches.map((match) => match.monitorId)}::text[], ${matches.map((match) => match.seq)}::bigint[],
      ${matches.map((match) => match.thingId)}::text[], ${matches.map((match) => match.kind)}::text[],
      ${matches.map((match) => match.enteredAt)}::timestamptz[],
      ${matches.map((match) => match.firstSeenAt)}::timestamptz[],
      ${matches.map((match) => match.createdAt)}::timestamptz[],
        ${matches.map((match) => arrayLiteral(match.matchedTerms))}::text[],
        ${matches.map((match) => match.suppressed)}::boolean[],
        ${matches.map((match) => match.suppressedReason ?? null)}::text[],
        ${matches.map((match) => match.firstDelivery)}::text[],
        ${matches.map((match) => match.nextAttemptAt)}::timestamptz[],
        ${matches.map((match) => match.backfill)}::boolean[])
      AS new_match (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
        suppressed_reason, first_delivery, next_attempt_at, backfill)`;
}

/** A Postgres text[] as text: nested arrays must have equal lengths. */
function arrayLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}

export interface ThreadOfDay {
  /** YYYY-MM-DD. */
  day: string;
  monitorId: string;
  /** Without t3_. */
  postId: string;
}

/** The threads that had an unsuppressed match of their monitor on that day. Only monitors with thread_once have any. */
export async function findThreadsOfDay(db: Queryable, threads: readonly ThreadOfDay[]): Promise<ThreadOfDay[]> {
  return readRows<ThreadOfDay>(db, 'recording-find-threads-of-day')`
    SELECT t.day::text, t.monitor_id AS "monitorId", t.post_id AS "postId"
    FROM unnest(${threads.map(({ day }) => day)}::date[], ${threads.map(({ monitorId }) => monitorId)}::text[],
      ${threads.map(({ postId }) => postId)}::text[]) AS asked (day, monitor_id, post_id)
    JOIN monitor_threads t ON t.day = asked.day AND t.monitor_id = asked.monitor_id AND t.post_id = asked.post_id`;
}

/** Stores threads that have had their match of the day. @param threads sorted by day, monitor and post, each once */
export async function insertThreadsOfDay(db: Queryable, threads: readonly ThreadOfDay[]): Promise<void> {
  await execute(db, 'recording-insert-threads-of-day')`
    INSERT INTO monitor_threads (day, monitor_id, post_id)
    SELECT * FROM unnest(${threads.map(({ day }) => day)}::date[],
      ${threads.map(({ monitorId }) => monitorId)}::text[], ${threads.map(({ postId }) => postId)}::text[])`;
}

/** The message of a stored match. @throws Error when its content is not among `contents` */
export function recordedMatchOf(match: FirstStoredMatch, contents: ReadonlyMap<string, ItemContent>): RecordedMatch {
  const item = contents.get(match.thingId);
  if (!item) throw new Error(`the content of ${match.thingId} is missing right after it was stored`);
  return {
    v: 1,
    match_id: matchId(match.monitorId, match.seq),
    monitor_id: match.monitorId,
    seq: match.seq,
    matched_terms: match.matchedTerms,
    suppressed: match.suppressed,
    ...(match.suppressedReason ? { suppressed_reason: match.suppressedReason } : {}),
    ...(match.backfill ? { backfill: true } : {}),
    first_delivery: match.firstDelivery,
    entered_at: match.enteredAt,
    created_at: match.createdAt,
    first_seen_at: match.firstSeenAt,
    item,
  };
}
