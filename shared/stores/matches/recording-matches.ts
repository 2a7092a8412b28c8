import type { SuppressedReason } from '../../../schemas/messages/recorded-match.ts';
import type { CounterAdvance, NumberedMatch } from '../../domain/match-numbering.ts';
import type { Queryable } from '../../postgres/pool.ts';

/** A match as it was first stored. */
export type FirstStoredMatch = Omit<NumberedMatch, 'nextAttemptAt' | 'postId'>;

interface MatchRow {
  monitor_id: string;
  seq: number;
  thing_id: string;
  kind: FirstStoredMatch['kind'];
  entered_at: Date;
  first_seen_at: Date;
  created_at: Date;
  matched_terms: string[];
  suppressed: boolean;
  suppressed_reason: SuppressedReason | null;
  first_delivery: FirstStoredMatch['firstDelivery'];
  backfill: boolean;
}

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
      SELECT m.monitor_id, m.seq, m.thing_id, m.kind, m.entered_at, m.first_seen_at, m.created_at, m.matched_terms,
        m.suppressed, m.suppressed_reason, m.first_delivery, m.backfill
      FROM unnest($1::text[], $2::text[]) AS pair (monitor_id, thing_id)
      CROSS JOIN LATERAL (
        SELECT * FROM matches WHERE monitor_id = pair.monitor_id AND thing_id = pair.thing_id LIMIT 1
      ) m
      ORDER BY m.monitor_id, m.seq`,
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
    `SELECT monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       suppressed_reason, first_delivery, backfill
     FROM matches
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
    `SELECT monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       suppressed_reason, first_delivery, backfill
     FROM matches
     WHERE (monitor_id, seq) > ($1, $2)
     ORDER BY monitor_id, seq
     LIMIT $3`,
    [after.monitorId, after.seq, limit],
  );
  return result.rows.map(toFirstStored);
}

function toFirstStored(row: MatchRow): FirstStoredMatch {
  return {
    monitorId: row.monitor_id,
    seq: row.seq,
    thingId: row.thing_id,
    kind: row.kind,
    enteredAt: row.entered_at.toISOString(),
    firstSeenAt: row.first_seen_at.toISOString(),
    createdAt: row.created_at.toISOString(),
    matchedTerms: row.matched_terms,
    suppressed: row.suppressed,
    suppressedReason: row.suppressed_reason ?? undefined,
    firstDelivery: row.first_delivery,
    backfill: row.backfill,
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
