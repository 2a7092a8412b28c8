import type { Rule } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';

/** What the matcher knows of an active monitor. Times in milliseconds since the epoch, real (wall_now). */
export interface MonitorRule {
  id: string;
  rule: Rule;
  version: number;
  activeSinceMs: number;
  /** When each rule version began, in the order of versions; those older than the kept ones are missing. */
  versions: { version: number; sinceMs: number }[];
}

/** Enough to see that something changed. */
export interface MonitorState {
  id: string;
  version: number;
  activeSinceMs: number;
}

interface Row {
  id: string;
  version: number;
  keywords: string[];
  exclude: string[];
  subreddits: string[];
  posts: boolean;
  comments: boolean;
  nsfw: boolean;
  active_since: Date;
  versions: number[] | null;
  sinces: Date[] | null;
}

/** The rules of all active monitors after `afterId`, at most `limit`, by id. */
export async function readActiveRules(db: Queryable, afterId: string, limit: number): Promise<MonitorRule[]> {
  const { rows } = await db.query<Row>(
    `SELECT m.id, m.version, m.keywords, m.exclude, m.subreddits, m.posts, m.comments, m.nsfw, m.active_since,
            v.versions, v.sinces
       FROM monitors m
       LEFT JOIN LATERAL (
         SELECT array_agg(version ORDER BY version) AS versions, array_agg(since ORDER BY version) AS sinces
           FROM monitor_versions WHERE monitor_id = m.id
       ) v ON true
      WHERE m.status = 'active' AND m.id > $1
      ORDER BY m.id
      LIMIT $2`,
    [afterId, limit],
  );
  return rows.map(toMonitorRule);
}

/** The rules of those of the given monitors that are active. */
export async function readRulesOf(db: Queryable, ids: readonly string[]): Promise<MonitorRule[]> {
  const { rows } = await db.query<Row>(
    `SELECT m.id, m.version, m.keywords, m.exclude, m.subreddits, m.posts, m.comments, m.nsfw, m.active_since,
            v.versions, v.sinces
       FROM monitors m
       LEFT JOIN LATERAL (
         SELECT array_agg(version ORDER BY version) AS versions, array_agg(since ORDER BY version) AS sinces
           FROM monitor_versions WHERE monitor_id = m.id
       ) v ON true
      WHERE m.status = 'active' AND m.id = ANY($1)`,
    [ids],
  );
  return rows.map(toMonitorRule);
}

/** Every active monitor, without its rule: for the comparison with what is held in memory. */
export async function readActiveStates(db: Queryable): Promise<MonitorState[]> {
  const { rows } = await db.query<{ id: string; version: number; active_since: Date }>(
    `SELECT id, version, active_since FROM monitors WHERE status = 'active'`,
  );
  return rows.map(({ id, version, active_since }) => ({ id, version, activeSinceMs: active_since.getTime() }));
}

function toMonitorRule(row: Row): MonitorRule {
  const { id, version, keywords, exclude, subreddits, posts, comments, nsfw } = row;
  const sinces = row.sinces ?? [];
  return {
    id,
    version,
    rule: { keywords, exclude, subreddits, posts, comments, nsfw },
    activeSinceMs: row.active_since.getTime(),
    versions: (row.versions ?? []).map((number, index) => ({ version: number, sinceMs: sinces[index]!.getTime() })),
  };
}
