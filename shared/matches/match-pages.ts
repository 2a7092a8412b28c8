import { inIndexOrder } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { readRow, readRows, sql } from '../postgres/sql.ts';
import type { StoredMatch } from './rules/match-resource.ts';

/** Matches with their contents as `StoredMatch`; a condition follows. */
export const STORED_MATCHES = sql`
  SELECT m.seq, m.thing_id AS "thingId", m.kind, m.matched_terms AS "matchedTerms", m.suppressed,
    m.suppressed_reason AS "suppressedReason", m.backfill, m.delivery_status AS "deliveryStatus",
    m.created_at AS "createdAt", m.delivered_at AS "deliveredAt", i.post_id AS "postId", i.subreddit, i.author, i.title,
    i.body, i.permalink, i.created_utc AS "createdUtc"
  FROM matches m
  JOIN matched_items i ON i.thing_id = m.thing_id`;

/**
 * Reads the first `limit` matches after a seq, oldest first. A seq is committed after all smaller seqs of its monitor,
 * so a reader that continues after the last one it got never misses any.
 *
 * @param afterSeq 0 to begin with the oldest stored match
 */
export async function readMatchesAfter(
  db: Queryable,
  monitorId: string,
  afterSeq: number,
  limit: number,
): Promise<StoredMatch[]> {
  return readRows<StoredMatch>(db, 'match-page-after')`
    ${STORED_MATCHES}
    WHERE m.monitor_id = ${monitorId} AND m.seq > ${afterSeq}
    ORDER BY m.seq
    LIMIT ${limit}`;
}

/** Newest first. @param beforeSeq undefined to begin with the newest */
export async function readMatchesBefore(
  db: Queryable,
  monitorId: string,
  beforeSeq: number | undefined,
  limit: number,
): Promise<StoredMatch[]> {
  return readRows<StoredMatch>(db, 'match-page-before')`
    ${STORED_MATCHES}
    WHERE m.monitor_id = ${monitorId} AND m.seq < ${beforeSeq ?? Number.MAX_SAFE_INTEGER}
    ORDER BY m.seq DESC
    LIMIT ${limit}`;
}

/** Absent fields do not restrict the choice. */
export interface MatchFilter {
  /** `created_at` from here on. */
  since?: Date | undefined;
  /** `created_at` before this. */
  until?: Date | undefined;
  /** One of `matched_terms`, exactly. */
  keyword?: string | undefined;
  /** Without r/, in any case. */
  subreddit?: string | undefined;
}

/** Seqs from `first` on, and before `end`. */
export interface SeqRange {
  first: number;
  end: number;
}

/**
 * Finds the stored matches of a monitor that were recorded in a time. `created_at` never decreases with the seq, so
 * each bound is found by halving: about 20 probes of the primary key among a million matches.
 *
 * @returns undefined when no match of the monitor is stored
 */
export async function readSeqRange(
  db: Queryable,
  monitorId: string,
  { since, until }: Pick<MatchFilter, 'since' | 'until'>,
): Promise<SeqRange | undefined> {
  return readRow<{ first: number; end: number }>(db, 'match-seq-range')`
    WITH RECURSIVE stored AS MATERIALIZED (
      SELECT
        (SELECT seq FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq LIMIT 1) AS first,
        (SELECT seq FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT 1) + 1 AS "end"
    ), halving AS (
      SELECT bound.name, bound.at, stored.first AS low, stored."end" AS high
      FROM stored, (VALUES ('since', ${since ?? null}::timestamptz), ('until',
        ${until ?? null}::timestamptz)) AS bound (name, at)
      WHERE stored.first IS NOT NULL AND bound.at IS NOT NULL
      UNION ALL
      SELECT h.name, h.at,
        CASE WHEN middle.created_at < h.at THEN middle.seq + 1 ELSE h.low END,
        CASE WHEN middle.created_at < h.at THEN h.high ELSE (h.low + h.high) / 2 END
      FROM halving h
      CROSS JOIN LATERAL (
        SELECT m.seq, m.created_at FROM matches m
        WHERE m.monitor_id = ${monitorId} AND m.seq >= (h.low + h.high) / 2
        ORDER BY m.seq LIMIT 1
      ) AS middle
      WHERE h.low < h.high
    )
    SELECT coalesce((SELECT min(high) FROM halving WHERE name = 'since'), stored.first) AS first,
      coalesce((SELECT min(high) FROM halving WHERE name = 'until'), stored."end") AS "end"
    FROM stored
    WHERE stored.first IS NOT NULL`;
}

/** The first stored match of a range, in this order; undefined when none is stored. One probe of the primary key. */
export async function nearestSeq(
  db: Queryable,
  monitorId: string,
  { first, end }: SeqRange,
  order: 'oldest' | 'newest',
): Promise<number | undefined> {
  const { rows } = await db.query<{ seq: number }>(NEAREST[order], [monitorId, first, end]);
  return rows[0]?.seq;
}

const STORED = 'SELECT seq FROM matches WHERE monitor_id = $1 AND seq >= $2 AND seq < $3';
const NEAREST = { oldest: `${STORED} ORDER BY seq LIMIT 1`, newest: `${STORED} ORDER BY seq DESC LIMIT 1` };

/**
 * Reads the first `limit` matches of a range that pass a filter, oldest or newest first. It reads at most as many
 * matches as the range has seqs, each by the primary key, and its content likewise.
 */
export async function readFilteredMatches(
  pool: Pool,
  monitorId: string,
  range: SeqRange,
  { filter, order, limit }: { filter: MatchFilter; order: 'oldest' | 'newest'; limit: number },
): Promise<StoredMatch[]> {
  const { rows } = await inIndexOrder(pool, (client) =>
    client.query<StoredMatch>(FILTERED_MATCHES[order], [
      monitorId,
      range.first,
      range.end,
      filter.since ?? null,
      filter.until ?? null,
      filter.keyword ?? null,
      filter.subreddit?.toLowerCase() ?? null,
      limit,
    ]),
  );
  return rows;
}

const MATCHES = STORED_MATCHES.text;
const FILTERED = `
  ${MATCHES}
  WHERE m.monitor_id = $1 AND m.seq >= $2 AND m.seq < $3
    AND ($4::timestamptz IS NULL OR m.created_at >= $4) AND ($5::timestamptz IS NULL OR m.created_at < $5)
    AND ($6::text IS NULL OR $6 = ANY (m.matched_terms)) AND ($7::text IS NULL OR lower(i.subreddit) = $7)`;

/** The statements of `readFilteredMatches`, so that a test can explain them. */
export const FILTERED_MATCHES = {
  oldest: `${FILTERED} ORDER BY m.seq LIMIT $8`,
  newest: `${FILTERED} ORDER BY m.seq DESC LIMIT $8`,
};
