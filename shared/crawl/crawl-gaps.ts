import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRows, sql } from '../postgres/sql.ts';

/** What a source may have missed: the items that it lists after `afterThing` and before `beforeThing`. */
export interface CrawlGap {
  source: string;
  reason: string;
  /** Fullname of the newest item seen before the gap, if known. */
  afterThing: string | undefined;
  /** Earliest creation time of a missing item; milliseconds since 1970. */
  afterAt: number | undefined;
  /** Fullname of the oldest item seen after the gap, if known. */
  beforeThing: string | undefined;
  /** Latest creation time of a missing item; milliseconds since 1970. */
  beforeAt: number | undefined;
  /** The communities that the missing items belong to; undefined: any. */
  communities?: readonly string[] | undefined;
}

/** A gap, and how long it has been known, in milliseconds. */
export type NoticedGap = CrawlGap & { ageMs: number };

/** Whether everything of the stretch was found that can be found, or nobody looks for it any more. */
export type GapOutcome = 'filled' | 'given_up';

export interface OpenGap extends CrawlGap {
  id: number;
  /** Milliseconds since 1970. */
  openedAt: number;
  /** Items of the stretch that were found since it was opened. */
  found: number;
}

export interface ListedGap extends OpenGap {
  /** Milliseconds since 1970; undefined while the gap is open. */
  closedAt: number | undefined;
  outcome: GapOutcome | undefined;
}

/** How far a gap whose begin is unknown reaches back. */
const UNKNOWN_LENGTH_MS = 3_600_000;

/** When the missing items of a gap were created: from `afterAt` to `beforeAt`, milliseconds since 1970. */
export function boundsOfGap({ afterAt, beforeAt, openedAt }: Pick<OpenGap, 'afterAt' | 'beforeAt' | 'openedAt'>): {
  afterAt: number;
  beforeAt: number;
} {
  const end = beforeAt ?? openedAt;
  return { afterAt: Math.min(end, afterAt ?? end - UNKNOWN_LENGTH_MS), beforeAt: end };
}

/** A ListedGap, whose absent fields are undefined: JSON has no dates, and can leave nulls out. */
export const GAP = sql`
  jsonb_strip_nulls(jsonb_build_object('id', id, 'source', source, 'reason', reason, 'afterThing', after_thing,
    'beforeThing', before_thing, 'communities', communities, 'found', found, 'outcome', outcome,
    'openedAt', floor(extract(epoch FROM opened_at) * 1000), 'afterAt', floor(extract(epoch FROM after_at) * 1000),
    'beforeAt', floor(extract(epoch FROM before_at) * 1000), 'closedAt', floor(extract(epoch FROM filled_at) * 1000)
  )) AS gap`;

/** A gap that is extended to more communities than this counts as one of all. */
const MOST_COMMUNITIES = 500;

/**
 * Records gaps, all or none. A gap of a listing that continues or overlaps an open one of the same source and reason,
 * opened within the last minute, extends that row. Gaps of ids keep their bounds, by which their source closes them. If
 * the answer is lost, the caller may record them again: with dates that changes nothing, without dates it adds the same
 * rows once more, which is harmless. An extended row has the communities of both.
 *
 * An open gap of ids that lies within a new gap of skipped ids of its source, by ids and by dates, is closed as filled:
 * the new one stands for it. A source that is killed after it recorded a gap, and before it saved its position, leaves
 * such a gap, which its successor does not know.
 */
export async function openGaps(db: Queryable, gaps: readonly NoticedGap[]): Promise<void> {
  await execute(db)`
    WITH gap AS (
      SELECT n, source, reason, after_thing, before_thing, to_timestamp(after_ms / 1000) AS after_at,
             to_timestamp(before_ms / 1000) AS before_at,
             (SELECT service_now()) - make_interval(secs => age_ms / 1000) AS opened_at, communities
        FROM ROWS FROM (json_to_recordset(${JSON.stringify(gaps)}) AS (source text, reason text, "afterThing" text,
               "beforeThing" text, "afterAt" float8, "beforeAt" float8, "ageMs" float8, communities text[])) WITH ORDINALITY
             AS gap (source, reason, after_thing, before_thing, after_ms, before_ms, age_ms, communities, n)
    ), last AS (
      SELECT DISTINCT ON (source, reason) id, source, reason
        FROM crawl_gaps
       WHERE filled_at IS NULL AND source IN (SELECT source FROM gap) AND source LIKE 'listings:%'
         AND opened_at > (SELECT service_now()) - interval '1 minute'
       ORDER BY source, reason, opened_at DESC, id DESC
    ), extended AS (
      UPDATE crawl_gaps AS c
         SET after_thing = CASE WHEN gap.after_at < c.after_at THEN gap.after_thing ELSE c.after_thing END,
             after_at = CASE WHEN gap.after_at < c.after_at THEN gap.after_at ELSE c.after_at END,
             before_thing = CASE WHEN gap.before_at < c.before_at THEN c.before_thing ELSE gap.before_thing END,
             before_at = CASE WHEN gap.before_at < c.before_at THEN c.before_at ELSE gap.before_at END,
             communities = (SELECT CASE WHEN count(*) BETWEEN 1 AND ${MOST_COMMUNITIES} THEN array_agg(name) END
                              FROM (SELECT unnest(c.communities) UNION SELECT unnest(gap.communities)) AS names (name)
                             WHERE c.communities IS NOT NULL AND gap.communities IS NOT NULL)
        FROM last JOIN gap USING (source, reason)
       WHERE c.id = last.id AND c.filled_at IS NULL
         AND (gap.after_thing = c.before_thing
              OR (gap.after_at <= c.before_at AND gap.before_at >= c.after_at))
      RETURNING gap.n
    ), covered AS (
      UPDATE crawl_gaps AS c
         SET outcome = 'filled', filled_at = service_now()
        FROM gap
       WHERE c.source = gap.source AND c.source NOT LIKE 'listings:%' AND c.filled_at IS NULL AND gap.reason = 'skipped'
         AND (length(c.after_thing), c.after_thing COLLATE "C")
             >= (length(gap.after_thing), gap.after_thing COLLATE "C")
         AND (length(c.before_thing), c.before_thing COLLATE "C")
             <= (length(gap.before_thing), gap.before_thing COLLATE "C")
         AND (c.after_at >= gap.after_at OR c.after_at IS NOT DISTINCT FROM gap.after_at)
         AND (c.before_at <= gap.before_at OR c.before_at IS NOT DISTINCT FROM gap.before_at)
    )
    INSERT INTO crawl_gaps (source, reason, after_thing, before_thing, after_at, before_at, opened_at, communities)
    SELECT source, reason, after_thing, before_thing, after_at, before_at, opened_at, communities
      FROM gap WHERE n NOT IN (SELECT n FROM extended)
     ORDER BY n`;
}

/**
 * The open gaps, newest first: what is old is the hardest to find again.
 *
 * @param options.sourcePrefix only gaps of sources whose names begin so; default: of all
 */
export async function readOpenGaps(
  db: Queryable,
  { limit, sourcePrefix = '' }: { limit: number; sourcePrefix?: string },
): Promise<OpenGap[]> {
  const rows = await readRows<{ gap: OpenGap }>(db)`
    SELECT ${GAP}
      FROM crawl_gaps
     WHERE filled_at IS NULL AND starts_with(source, ${sourcePrefix})
     ORDER BY opened_at DESC, id DESC
     LIMIT ${limit}`;
  return rows.map(({ gap }) => gap);
}

/** Gives up the open gaps that were opened before a time, in milliseconds since 1970. Parameters as in readOpenGaps. */
export async function giveUpGaps(
  db: Queryable,
  { openedBefore, sourcePrefix }: { openedBefore: number; sourcePrefix: string },
): Promise<void> {
  await execute(db)`
    UPDATE crawl_gaps SET outcome = 'given_up', filled_at = service_now()
     WHERE filled_at IS NULL AND starts_with(source, ${sourcePrefix})
       AND opened_at < to_timestamp(${openedBefore}::float8 / 1000)`;
}

/** Sets how many items of a gap's stretch were found so far; the number never decreases. */
export async function noteGapFound(db: Queryable, id: number, found: number): Promise<void> {
  await execute(db)`UPDATE crawl_gaps SET found = greatest(found, ${found}) WHERE id = ${id} AND filled_at IS NULL`;
}

/**
 * Closes a gap; a closed gap stays as it is.
 *
 * @param closing.upTo the bounds that were worked on. A gap that reaches further by now, because the source has
 *   extended it, stays open. Default: close it whatever its bounds
 * @returns whether the gap was closed by this call
 */
export async function closeGap(
  db: Queryable,
  id: number,
  closing: { found: number; outcome: GapOutcome; upTo?: Pick<CrawlGap, 'afterAt' | 'beforeAt' | 'beforeThing'> },
): Promise<boolean> {
  const { found, outcome, upTo } = closing;
  return isChanged(db)`
    UPDATE crawl_gaps SET found = greatest(found, ${found}), outcome = ${outcome}, filled_at = service_now()
     WHERE id = ${id} AND filled_at IS NULL
       AND (NOT ${upTo !== undefined}
            OR (after_at IS NOT DISTINCT FROM to_timestamp(${upTo?.afterAt ?? null}::float8 / 1000)
                AND before_at IS NOT DISTINCT FROM to_timestamp(${upTo?.beforeAt ?? null}::float8 / 1000)
                AND before_thing IS NOT DISTINCT FROM ${upTo?.beforeThing ?? null}::text))`;
}

/** How the gap that ends before `beforeThing` was closed. */
export interface GapClosing {
  beforeThing: string;
  found: number;
  outcome: GapOutcome;
}

/** Closes the open gaps of a source that end before the given items; those that are closed stay as they are. */
export async function closeGapsBefore(db: Queryable, source: string, closings: readonly GapClosing[]): Promise<void> {
  await execute(db)`
    UPDATE crawl_gaps AS c
       SET found = greatest(c.found, closing.found), filled_at = service_now(), outcome = closing.outcome
      FROM unnest(${closings.map(({ beforeThing }) => beforeThing)}::text[],
        ${closings.map(({ found }) => found)}::bigint[], ${closings.map(({ outcome }) => outcome)}::text[])
           AS closing (before_thing, found, outcome)
     WHERE c.source = ${source} AND c.before_thing = closing.before_thing AND c.filled_at IS NULL`;
}

/**
 * The gaps that were open at some time from `from` until before `to`, newest first. Times are milliseconds since 1970.
 */
export async function listGaps(
  db: Queryable,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<ListedGap[]> {
  // Three disjoint parts, each with an index of its own.
  const rows = await readRows<{ gap: ListedGap }>(db)`
    WITH bounds AS MATERIALIZED (
      SELECT to_timestamp(${from}::float8 / 1000) AS lower, to_timestamp(${to}::float8 / 1000) AS upper
    ), listed AS (
      (SELECT c.* FROM crawl_gaps c
        WHERE opened_at >= (SELECT lower FROM bounds) AND opened_at < (SELECT upper FROM bounds)
        ORDER BY opened_at DESC, id DESC LIMIT ${limit})
      UNION ALL
      (SELECT c.* FROM crawl_gaps c
        WHERE filled_at >= (SELECT lower FROM bounds) AND opened_at < (SELECT lower FROM bounds)
        ORDER BY opened_at DESC, id DESC LIMIT ${limit})
      UNION ALL
      (SELECT c.* FROM crawl_gaps c
        WHERE filled_at IS NULL AND opened_at < (SELECT lower FROM bounds)
        ORDER BY opened_at DESC, id DESC LIMIT ${limit})
    )
    SELECT ${GAP}
      FROM listed
     ORDER BY opened_at DESC, id DESC
     LIMIT ${limit}`;
  return rows.map(({ gap }) => ({ ...gap, closedAt: gap.closedAt, outcome: gap.outcome }));
}

export interface CopiedGap {
  id: number;
  source: string;
  reason: string;
  openedAt: Date;
  createdFrom: Date | null;
  createdTo: Date | null;
  afterThing: string | null;
  beforeThing: string | null;
  /** null: any. */
  communities: string[] | null;
  found: number;
  closedAt: Date | null;
  outcome: GapOutcome | null;
}

/** A page in the order of the ids. */
export interface GapCopyPage {
  /** The last id of the page before; 0: from the beginning. */
  after: number;
  limit: number;
  /** Whether only gaps that were opened or closed in the last minutes are read. */
  isRecent: boolean;
}

/** Reads a page of the gaps of the last 90 days. Two indexes serve recent ones. */
export async function readGapsToCopy(db: Queryable, page: GapCopyPage): Promise<CopiedGap[]> {
  return readRows<CopiedGap>(db)`
    SELECT id, source, reason, opened_at AS "openedAt", after_at AS "createdFrom", before_at AS "createdTo",
           after_thing AS "afterThing", before_thing AS "beforeThing", communities, found,
           filled_at AS "closedAt", outcome
      FROM crawl_gaps
     WHERE id > ${page.after}
       AND opened_at > (SELECT service_now()) - interval '90 days'
       AND (NOT ${page.isRecent} OR opened_at > (SELECT service_now()) - interval '3 minutes'
                   OR filled_at > (SELECT service_now()) - interval '3 minutes')
     ORDER BY id
     LIMIT ${page.limit}`;
}
