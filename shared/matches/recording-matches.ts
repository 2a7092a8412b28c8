import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { RecordedMatch, SuppressedReason } from '../../schemas/messages/monitor-match.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows, sql } from '../postgres/sql.ts';
import { matchId } from '../rules/identifiers.ts';
import type { CounterAdvance, NumberedMatch } from './rules/match-numbering.ts';

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
 * Finds the matches that are already stored for the given (monitor, thing) pairs, by monitor and seq.
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

/** Of all monitors, in the order of (monitor, seq). */
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

/** Those that had an unsuppressed match of their monitor on that day. Only monitors with thread_once have any. */
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
