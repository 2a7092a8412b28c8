import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';
import type { UnreadStretch } from './rules/unread-posts.ts';
import { GAP } from './crawl-gaps.ts';

export interface HourGaps {
  hour: Date;
  opened: number;
  closed: number;
}

/** The stretches of post ids that were noticed since `from`, and are open or were given up. */
export async function readUnreadStretches(db: Queryable, from: Date): Promise<UnreadStretch[]> {
  const rows = await readRows<{ gap: UnreadStretch }>(db)`
    SELECT ${GAP}
      FROM crawl_gaps
     WHERE opened_at >= ${from} AND source = 'post-ids' AND outcome IS DISTINCT FROM 'filled'`;
  return rows.map(({ gap }) => gap);
}

/**
 * When the walk over post ids was last answered for new ids; undefined when nobody ever walked them. Of a position that
 * an earlier version saved, which does not tell, it is the time when it was saved.
 */
export async function lastPostIdWalk(db: Queryable): Promise<Date | undefined> {
  const rows = await readRows<{ at: Date | null }>(db)`
    SELECT CASE WHEN position ? 'walkedAt' THEN to_timestamp((position ->> 'walkedAt')::float8 / 1000)
                ELSE updated_at END AS at
      FROM crawl_cursors WHERE source = 'post-ids'`;
  return rows[0]?.at ?? undefined;
}

export async function countRemovals(db: Queryable, from: Date): Promise<{ hour: Date; count: number }[]> {
  return readRows<{ hour: Date; count: number }>(db)`
    SELECT date_trunc('hour', at) AS hour, count(*) AS count FROM removed_things WHERE at >= ${from} GROUP BY 1`;
}

/** Of the hours that begin from `from` until before `to`. */
export async function countGapsByHour(db: Queryable, from: Date, to: Date): Promise<HourGaps[]> {
  return readRows<HourGaps>(db)`
    SELECT hour, sum(opened)::int AS opened, sum(closed)::int AS closed
      FROM (SELECT date_trunc('hour', opened_at) AS hour, count(*) AS opened, 0 AS closed
              FROM crawl_gaps WHERE opened_at >= ${from} AND opened_at < ${to} GROUP BY 1
             UNION ALL
            SELECT date_trunc('hour', filled_at), 0, count(*)
              FROM crawl_gaps WHERE filled_at >= ${from} AND filled_at < ${to} GROUP BY 1) AS counted
     GROUP BY hour ORDER BY hour`;
}

/** Counts the gaps that were open at a time: opened before it, and not closed before it. */
export async function countGapsOpenAt(db: Queryable, at: Date): Promise<number> {
  const rows = await readRows<{ open: number }>(db)`
    SELECT (SELECT count(*) FROM crawl_gaps WHERE filled_at IS NULL AND opened_at < ${at})
         + (SELECT count(*) FROM crawl_gaps WHERE filled_at >= ${at} AND opened_at < ${at}) AS open`;
  return rows[0]?.open ?? 0;
}

export async function countOpenGaps(db: Queryable): Promise<{ source: string; open: number }[]> {
  return readRows<{ source: string; open: number }>(db)`
    SELECT source, count(*) AS open FROM crawl_gaps WHERE filled_at IS NULL GROUP BY source ORDER BY source`;
}
