import { WHOLE } from '../rules/identifiers.ts';
import type { MonitorShard } from '../rules/identifiers.ts';
import type { Rule, RuleRefinements } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { RULE_VERSIONS_PER_DAY } from './monitors.ts';

/** Topics keep items for 72 hours. */
const TOPIC_DAYS = 3;

/** What the matcher knows about an active monitor. Times are real (wall_now), in milliseconds since the epoch. */
export interface MonitorRule {
  id: string;
  rule: Rule;
  version: number;
  activeSinceMs: number;
  /** When each rule version began, by version. Those past their retention, or before the last 3,000, are missing. */
  versions: { version: number; sinceMs: number }[];
}

/** Enough to detect that a monitor changed. */
export interface MonitorState {
  id: string;
  version: number;
  activeSinceMs: number;
}

/*
 * Postgres builds each page as one row, which the client parses in few calls; rows with arrays take more than twice the
 * time. Fractions of milliseconds are truncated, so that no version begins later than it did.
 */

/** Whether a monitor is in shard $1 of $2. A hash that no version of PostgreSQL changes. */
const IN_SHARD = `($2 = 1 OR ('x' || substr(md5(m.id), 1, 7))::bit(28)::int % $2 = $1 - 1)`;

/** All that can begin while topics keep an item. */
const VERSIONS = TOPIC_DAYS * RULE_VERSIONS_PER_DAY;

/**
 * Monitors, with their terms as JSON of their own. All of it is built and counted in bytes in the database. Both
 * statements go on with a condition.
 */
const RULES = `
       SELECT m.id, to_json(m.keywords)::text AS keywords, to_json(m.exclude)::text AS exclude, json_build_object(
           'id', m.id,
           'rule', json_build_object('subreddits', m.subreddits, 'posts', m.posts, 'comments', m.comments,
             'nsfw', m.nsfw),
           'refinements', m.refinements,
           'version', m.version,
           'activeSinceMs', trunc(extract(epoch FROM m.active_since) * 1000),
           'versions', coalesce(
             (SELECT json_agg(json_build_object('version', version, 'sinceMs', trunc(extract(epoch FROM since) * 1000))
                 ORDER BY version)
                FROM (SELECT version, since FROM monitor_versions WHERE monitor_id = m.id
                       ORDER BY version DESC LIMIT ${VERSIONS}) AS latest), '[]')) AS monitor
         FROM monitors m`;

/** Each of these monitors with the bytes of those before it. */
const COUNTED = `
       SELECT *, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
         FROM (SELECT *, octet_length(monitor::text) + octet_length(keywords) + octet_length(exclude) AS bytes
                 FROM monitors) AS measured`;

/** A monitor without its terms. */
type RestOfMonitor = Omit<MonitorRule, 'rule'> & {
  rule: Omit<Rule, 'keywords' | 'exclude'>;
  refinements: RuleRefinements | null;
};

/** The monitors of a page. The JSON of the terms of each is a line: JSON has no line breaks within strings. */
interface PageRow {
  monitors: RestOfMonitor[];
  /** Null if there are no monitors. */
  keywords: string | null;
  exclude: string | null;
}

function monitorsOf({ monitors, keywords, exclude }: PageRow): MonitorRule[] {
  const [keywordLines, excludeLines] = [(keywords ?? '').split('\n'), (exclude ?? '').split('\n')];
  return monitors.map(({ id, rule: rest, refinements, version, activeSinceMs, versions }, index) => {
    const terms = { keywords: stringsOf(keywordLines[index]!), exclude: stringsOf(excludeLines[index]!) };
    const rule = refinements === null ? { ...terms, ...rest } : { ...terms, ...rest, ...refinements };
    return { id, rule, version, activeSinceMs, versions };
  });
}

/**
 * The strings of a JSON array that Postgres has written. A string without a backslash has no quotes, so an array
 * without one can be cut between its strings. JSON.parse takes four times as long, as it looks each short string up
 * among all that the process has.
 */
function stringsOf(json: string): string[] {
  if (json.includes('\\')) return JSON.parse(json) as string[];
  return json === '[]' ? [] : json.slice('["'.length, -'"]'.length).split('","');
}

/**
 * Reads the rules of all active monitors of a shard after `afterId`, by id: at most `limit`, and no more once they
 * have `maxBytes` as JSON. Only after the last one the page is empty.
 */
export async function readActiveRules(
  db: Queryable,
  afterId: string,
  limit: number,
  maxBytes: number,
  { shard, shards }: MonitorShard = WHOLE,
): Promise<MonitorRule[]> {
  const { rows } = await db.query<PageRow>(
    `WITH monitors AS MATERIALIZED (
       ${RULES}
        WHERE m.status = 'active' AND m.id > $3 AND ${IN_SHARD}
        ORDER BY m.id
        LIMIT $4
     )
     SELECT coalesce(json_agg(monitor ORDER BY id), '[]') AS monitors,
            string_agg(keywords, E'\\n' ORDER BY id) AS keywords,
            string_agg(exclude, E'\\n' ORDER BY id) AS exclude
       FROM (${COUNTED}) AS counted
      WHERE bytes_before < $5`,
    [shard, shards, afterId, limit, maxBytes],
  );
  return monitorsOf(rows[0]!);
}

/**
 * Reads the rules of the given monitors, without inactive ones and those of other shards, and no more once they have
 * `maxBytes` as JSON.
 *
 * @returns `isCut` when there are more
 */
export async function readRulesById(
  db: Queryable,
  ids: readonly string[],
  maxBytes: number,
  { shard, shards }: MonitorShard = WHOLE,
): Promise<{ monitors: MonitorRule[]; isCut: boolean }> {
  const { rows } = await db.query<PageRow & { isCut: boolean }>(
    `WITH monitors AS MATERIALIZED (
       ${RULES}
        WHERE m.status = 'active' AND m.id = ANY($3) AND ${IN_SHARD}
     )
     SELECT coalesce(json_agg(monitor ORDER BY id) FILTER (WHERE bytes_before < $4), '[]') AS monitors,
            string_agg(keywords, E'\\n' ORDER BY id) FILTER (WHERE bytes_before < $4) AS keywords,
            string_agg(exclude, E'\\n' ORDER BY id) FILTER (WHERE bytes_before < $4) AS exclude,
            coalesce(bool_or(bytes_before >= $4), false) AS "isCut"
       FROM (${COUNTED}) AS counted`,
    [shard, shards, ids, maxBytes],
  );
  const [row] = rows;
  return { monitors: monitorsOf(row!), isCut: row!.isCut };
}

/**
 * Reads the active monitors of a shard after `afterId`, by id, at most `limit`, without their rules. The matcher
 * compares them with its memory.
 */
export async function readActiveStates(
  db: Queryable,
  afterId: string,
  limit: number,
  { shard, shards }: MonitorShard = WHOLE,
): Promise<MonitorState[]> {
  const { rows } = await db.query<{ page: MonitorState[] }>(
    `SELECT coalesce(json_agg(json_build_object('id', id, 'version', version,
              'activeSinceMs', trunc(extract(epoch FROM active_since) * 1000)) ORDER BY id), '[]') AS page
       FROM (
         SELECT id, version, active_since FROM monitors m
          WHERE status = 'active' AND id > $3 AND ${IN_SHARD}
          ORDER BY id LIMIT $4
       ) AS states`,
    [shard, shards, afterId, limit],
  );
  return rows[0]!.page;
}
