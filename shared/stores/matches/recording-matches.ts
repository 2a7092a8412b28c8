import type { SuppressedReason } from '../../../schemas/messages/recorded-match.ts';
import type { CounterAdvance, NumberedMatch } from '../../domain/match-numbering.ts';
import type { Queryable } from '../../postgres/pool.ts';

/** A match as it was first stored. */
export type FirstStoredMatch = Omit<NumberedMatch, 'nextAttemptAt' | 'postId'>;

type MatchRow = Omit<FirstStoredMatch, 'enteredAt' | 'firstSeenAt' | 'createdAt' | 'suppressedReason'> & {
  enteredAt: Date;
  firstSeenAt: Date;
  createdAt: Date;
  suppressedReason: SuppressedReason | null;
};

const COLUMNS = `monitor_id AS "monitorId", seq, thing_id AS "thingId", kind, entered_at AS "enteredAt",
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
  const result = await db.query<MatchRow>({
    name: 'recording-find-stored-matches',
    text: `
      SELECT m.*
      FROM unnest($1::text[], $2::text[]) AS pair (of_monitor, thing)
      CROSS JOIN LATERAL (
        SELECT ${COLUMNS} FROM matches WHERE monitor_id = of_monitor AND thing_id = thing LIMIT 1
      ) m
      ORDER BY m."monitorId", m.seq`,
    values: [pairs.map((pair) => pair.monitorId), pairs.map((pair) => pair.thingId)],
  });
  return result.rows.map(toFirstStored);
}

/** Reads the first `limit` matches of a monitor that backfills recorded, by seq, in a range of seqs. */
export async function readBackfilledMatches(
  db: Queryable,
  monitorId: string,
  { after, last }: { after: number; last: number },
  limit: number,
): Promise<FirstStoredMatch[]> {
  const result = await db.query<MatchRow>(
    `SELECT ${COLUMNS} FROM matches
     WHERE monitor_id = $1 AND seq > $2 AND seq <= $3 AND backfill
     ORDER BY seq
     LIMIT $4`,
    [monitorId, after, last, limit],
  );
  return result.rows.map(toFirstStored);
}

/** Reads the next `limit` matches of all monitors after (monitor, seq), in that order. */
export async function readMatchesAfter(
  db: Queryable,
  after: { monitorId: string; seq: number },
  limit: number,
): Promise<FirstStoredMatch[]> {
  const result = await db.query<MatchRow>(
    `SELECT ${COLUMNS} FROM matches
     WHERE (monitor_id, seq) > ($1, $2)
     ORDER BY monitor_id, seq
     LIMIT $3`,
    [after.monitorId, after.seq, limit],
  );
  return result.rows.map(toFirstStored);
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
  await db.query({
    name: 'recording-add-to-monitor-days',
    text: `
      INSERT INTO monitor_days (monitor_id, day, matches, suppressed, suppressed_not_stored)
      SELECT * FROM unnest($1::text[], $2::date[], $3::integer[], $4::integer[], $5::bigint[])
      ON CONFLICT (monitor_id, day) DO UPDATE
        SET matches = monitor_days.matches + excluded.matches,
          suppressed = monitor_days.suppressed + excluded.suppressed,
          suppressed_not_stored = monitor_days.suppressed_not_stored + excluded.suppressed_not_stored`,
    values: [
      advances.map((advance) => advance.monitorId),
      advances.map((advance) => advance.day),
      advances.map((advance) => advance.matches),
      advances.map((advance) => advance.suppressed),
      advances.map((advance) => advance.notStored),
    ],
  });
}

/** Advances the counters of locked monitors. */
export async function advanceCounters(db: Queryable, advances: readonly CounterAdvance[]): Promise<void> {
  await db.query({
    name: 'recording-advance-counters',
    text: `
      UPDATE monitor_counters c
      SET last_seq = advance.last_seq, last_match_at = advance.last_match_at, last_day = advance.last_day,
        not_stored_until = greatest(c.not_stored_until, advance.not_stored_until),
        threads_not_stored_until = greatest(c.threads_not_stored_until, advance.threads_not_stored_until)
      FROM unnest($1::text[], $2::bigint[], $3::timestamptz[], $4::date[], $5::timestamptz[], $6::timestamptz[])
        AS advance (monitor_id, last_seq, last_match_at, last_day, not_stored_until, threads_not_stored_until)
      WHERE c.monitor_id = advance.monitor_id`,
    values: [
      advances.map((advance) => advance.monitorId),
      advances.map((advance) => advance.lastSeq),
      advances.map((advance) => advance.lastMatchAt),
      advances.map((advance) => advance.day),
      advances.map((advance) => advance.notStoredUntil),
      advances.map((advance) => advance.threadsNotStoredUntil),
    ],
  });
}

/** Stores new matches. @param matches sorted by monitor and seq */
export async function insertMatches(db: Queryable, matches: readonly NumberedMatch[]): Promise<void> {
  await db.query({
    name: 'recording-insert-matches',
    text: `
      INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
        suppressed, suppressed_reason, first_delivery, delivery_status, next_attempt_at, backfill)
      SELECT monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms::text[], suppressed,
        suppressed_reason, first_delivery, first_delivery, next_attempt_at, backfill
      FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[],
        $7::timestamptz[], $8::text[], $9::boolean[], $10::text[], $11::text[], $12::timestamptz[], $13::boolean[])
        AS new_match (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
          suppressed_reason, first_delivery, next_attempt_at, backfill)`,
    values: [
      matches.map((match) => match.monitorId),
      matches.map((match) => match.seq),
      matches.map((match) => match.thingId),
      matches.map((match) => match.kind),
      matches.map((match) => match.enteredAt),
      matches.map((match) => match.firstSeenAt),
      matches.map((match) => match.createdAt),
      matches.map((match) => arrayLiteral(match.matchedTerms)),
      matches.map((match) => match.suppressed),
      matches.map((match) => match.suppressedReason ?? null),
      matches.map((match) => match.firstDelivery),
      matches.map((match) => match.nextAttemptAt),
      matches.map((match) => match.backfill),
    ],
  });
}

/**
 * The text form of a Postgres text[]. Nested arrays must have equal lengths, so the terms of each match are sent as
 * text.
 */
function arrayLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/[\\"]/g, '\\$&')}"`).join(',')}}`;
}
