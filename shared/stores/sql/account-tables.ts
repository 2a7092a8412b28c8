/** Columns of `matches` that come from the items; only statements that name one of them, or `*`, read items. */
export const CONTENT_COLUMNS: ReadonlySet<string> = new Set(
  'post_id author title body url permalink nsfw score removed language'.split(' '),
);

/** Names of databases, which are no parameters in SQL: letters, digits and underscores. */
const DATABASE = /^\w+$/;
const MONITOR_ID = /^mon_[0-9a-z]{12}$/;

/**
 * The customer's tables as common table expressions, with which the server begins each statement. Each reads only the
 * given monitors: the account is never named by the statement's author.
 *
 * @param archive the database of the archive
 * @param monitorIds all that are not deleted
 */
export function accountTables(
  archive: string,
  monitorIds: readonly string[],
  { readsContent }: { readsContent: boolean },
): string {
  if (!DATABASE.test(archive) || !monitorIds.every((id) => MONITOR_ID.test(id))) {
    throw new Error('a database or a monitor has an unexpected name');
  }
  const monitors = monitorIds.length === 0 ? `('')` : `(${monitorIds.map((id) => `'${id}'`).join(', ')})`;
  return `WITH
  monitors AS (SELECT monitor_id, name, created_at FROM ${archive}.monitors FINAL WHERE monitor_id IN ${monitors}),
  deliveries AS (
    SELECT monitor_id, seq, match_id, attempt, started_at, duration_ms, webhook_kind, host, status, error,
           delivery_status, next_attempt_at
    FROM ${archive}.delivery_attempts FINAL
    WHERE monitor_id IN ${monitors} AND started_at > now64(3) - INTERVAL 30 DAY
  ),
  matches AS (
    SELECT m.match_id AS match_id, m.monitor_id AS monitor_id, n.name AS monitor_name, m.seq AS seq, m.kind AS kind,
           m.thing_id AS thing_id, m.subreddit AS subreddit, m.matched_terms AS matched_terms,
           m.suppressed AS suppressed, m.suppressed_reason AS suppressed_reason, m.backfill AS backfill,
           m.created_utc AS created_utc, m.first_seen_at AS first_seen_at, m.created_at AS created_at${readsContent ? CONTENT : ''}
    FROM (
      SELECT * FROM ${archive}.matches FINAL
      WHERE monitor_id IN ${monitors} AND created_at > now64(3) - INTERVAL 30 DAY
    ) AS m
    LEFT ANY JOIN (
      SELECT monitor_id, name FROM ${archive}.monitors FINAL WHERE monitor_id IN ${monitors}
    ) AS n ON n.monitor_id = m.monitor_id${readsContent ? contentJoin(archive, monitors) : ''}
  )`;
}

const CONTENT = `,
           i.post_id AS post_id, i.author AS author, i.title AS title, i.body AS body, i.url AS url,
           i.permalink AS permalink, i.nsfw AS nsfw, i.score AS score, i.ver = 2 AS removed, i.language AS language`;

const contentJoin = (archive: string, monitors: string): string => `
    LEFT ANY JOIN (
      SELECT thing_id, post_id, author, title, body, url, permalink, nsfw, score, ver, language
      FROM ${archive}.items FINAL
      WHERE thing_id IN (SELECT thing_id FROM ${archive}.matches WHERE monitor_id IN ${monitors})
        AND first_seen_at > now64(3) - INTERVAL 30 DAY
    ) AS i ON i.thing_id = m.thing_id`;
