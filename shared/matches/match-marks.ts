import { inIndexOrder } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRow, readRows } from '../postgres/sql.ts';
import { STORED_MATCHES } from './match-pages.ts';
import type { MatchFilter, SeqRange } from './match-pages.ts';
import type { StoredMatch } from './rules/match-resource.ts';

/** What the owner thinks of a match. A new mark replaces the one before. */
export type MatchMark = 'bookmarked' | 'irrelevant';

/** Marks of a monitor. Requests at the same moment may exceed them by a few. */
export const MAX_MARKS: Readonly<Record<MatchMark, number>> = { bookmarked: 1_000, irrelevant: 5_000 };

export interface MatchOf {
  accountId: string;
  monitorId: string;
  seq: number;
}

/**
 * Marks a match. The monitor's row is locked against its deletion, after which erasures delete marks, so that no mark
 * outlives its monitor.
 *
 * @returns whether it is marked; `full`: the monitor has no room for another mark; `absent`: the account has no such
 *   match
 */
export async function markMatch(
  db: Queryable,
  { accountId, monitorId, seq }: MatchOf,
  mark: MatchMark,
): Promise<'marked' | 'full' | 'absent'> {
  const found = await readRow<{ marked: boolean }>(db)`
    WITH own AS MATERIALIZED (
      SELECT id FROM monitors WHERE id = ${monitorId} AND account_id = ${accountId} AND status <> 'deleted' FOR SHARE
    ), match AS (
      SELECT m.monitor_id, m.seq FROM own JOIN matches m ON m.monitor_id = own.id AND m.seq = ${seq}
    ), stored AS (
      INSERT INTO match_marks (monitor_id, seq, mark)
      SELECT monitor_id, seq, ${mark} FROM match
      WHERE ${MAX_MARKS[mark]} > (
        SELECT count(*) FROM match_marks WHERE monitor_id = ${monitorId} AND mark = ${mark} AND seq <> ${seq})
      ON CONFLICT (monitor_id, seq) DO UPDATE SET mark = EXCLUDED.mark
      RETURNING seq
    )
    SELECT EXISTS (SELECT FROM stored) AS marked FROM match`;
  if (found === undefined) return 'absent';
  return found.marked ? 'marked' : 'full';
}

/** Removes the mark of a match, whatever it is. Returns false when the account has no such match. */
export async function unmarkMatch(db: Queryable, { accountId, monitorId, seq }: MatchOf): Promise<boolean> {
  const found = await readRow(db)`
    WITH match AS (
      SELECT m.monitor_id, m.seq FROM monitors own JOIN matches m ON m.monitor_id = own.id AND m.seq = ${seq}
      WHERE own.id = ${monitorId} AND own.account_id = ${accountId} AND own.status <> 'deleted'
    ), removed AS (
      DELETE FROM match_marks k USING match WHERE k.monitor_id = match.monitor_id AND k.seq = match.seq
    )
    SELECT FROM match`;
  return found !== undefined;
}

/** One match of an account, with its mark and whether it is newer than what the owner has seen. */
export async function readOwnMatch(
  db: Queryable,
  { accountId, monitorId, seq }: MatchOf,
): Promise<{ match: StoredMatch; mark: MatchMark | null; isUnread: boolean } | undefined> {
  const [match] = await readRows<StoredMatch>(db)`
    ${STORED_MATCHES}
    JOIN monitors own ON own.id = m.monitor_id AND own.account_id = ${accountId} AND own.status <> 'deleted'
    WHERE m.monitor_id = ${monitorId} AND m.seq = ${seq}`;
  if (match === undefined) return undefined;
  const marked = await readOne<{ mark: MatchMark | null; isUnread: boolean }>(db)`
    SELECT (SELECT mark FROM match_marks WHERE monitor_id = ${monitorId} AND seq = ${seq}) AS mark,
      ${seq} > coalesce((SELECT read_seq FROM match_positions WHERE monitor_id = ${monitorId}), 0) AS "isUnread"`;
  return { match, ...marked };
}

/** All marks of a monitor, by match: at most `MAX_MARKS`. */
export async function listMarks(
  db: Queryable,
  monitorId: string,
): Promise<{ seq: number; mark: MatchMark; createdAt: Date }[]> {
  return readRows<{ seq: number; mark: MatchMark; createdAt: Date }>(db)`
    SELECT seq, mark, created_at AS "createdAt" FROM match_marks WHERE monitor_id = ${monitorId} ORDER BY seq`;
}

/**
 * Notes that the owner has seen everything up to a match. Nothing happens where the account has no such monitor.
 *
 * @param seq above the last match of the monitor it counts as that
 */
export async function moveReadPosition(db: Queryable, { accountId, monitorId, seq }: MatchOf): Promise<void> {
  // Locked against its deletion, as in `markMatch`.
  await execute(db)`
    WITH own AS MATERIALIZED (
      SELECT id FROM monitors WHERE id = ${monitorId} AND account_id = ${accountId} AND status <> 'deleted' FOR SHARE
    )
    INSERT INTO match_positions (monitor_id, read_seq)
    SELECT own.id, least(${seq}::bigint, c.last_seq) FROM own JOIN monitor_counters c ON c.monitor_id = own.id
    ON CONFLICT (monitor_id) DO UPDATE SET read_seq = EXCLUDED.read_seq
    WHERE match_positions.read_seq < EXCLUDED.read_seq`;
}

/** How far matches are counted. */
export const MAX_UNREAD = 1_000;
export const MAX_UNREAD_IN_LISTS = 100;

export interface MarkCounts {
  /** The last match that the owner has seen; 0: none. */
  readSeq: number;
  /** The last match of the monitor; 0: none. */
  lastSeq: number;
  /** Without irrelevant ones, up to `MAX_UNREAD`. */
  unread: number;
  bookmarked: number;
  irrelevant: number;
}

/** Counts the matches of a monitor as its owner sees them, without marks that are not deleted with their match yet. */
export async function readMarkCounts(db: Queryable, monitorId: string): Promise<MarkCounts> {
  return readOne<MarkCounts>(db)`
    WITH monitor AS MATERIALIZED (
      SELECT ${monitorId} AS id,
        coalesce((SELECT read_seq FROM match_positions WHERE monitor_id = ${monitorId}), 0) AS read_seq,
        coalesce((SELECT last_seq FROM monitor_counters WHERE monitor_id = ${monitorId}), 0) AS last_seq,
        (SELECT seq FROM matches WHERE monitor_id = ${monitorId} ORDER BY seq LIMIT 1) AS first_seq
    )
    SELECT monitor.read_seq AS "readSeq", monitor.last_seq AS "lastSeq",
      (
        SELECT count(*)::integer FROM (
          SELECT FROM matches m
          WHERE m.monitor_id = monitor.id AND m.seq > monitor.read_seq
            AND NOT EXISTS (SELECT FROM match_marks k
                             WHERE k.monitor_id = m.monitor_id AND k.seq = m.seq AND k.mark = 'irrelevant')
          LIMIT ${MAX_UNREAD}
        ) AS counted
      ) AS unread,
      marked.bookmarked, marked.irrelevant
    FROM monitor
    CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE mark = 'bookmarked'))::integer AS bookmarked,
        (count(*) FILTER (WHERE mark = 'irrelevant'))::integer AS irrelevant
      FROM match_marks WHERE monitor_id = monitor.id AND seq >= monitor.first_seq
    ) AS marked`;
}

/**
 * The unread matches of an account's monitors, each up to a hundred. Monitors without any are absent. Irrelevant ones
 * are subtracted: to look each match up among them would read all matches of all monitors.
 */
export async function readUnreadCounts(pool: Pool, accountId: string): Promise<Map<string, number>> {
  const rows = await inIndexOrder(
    pool,
    (client) => readRows<{ id: string; unread: number }>(client)`
    SELECT o.id, unread.count AS unread
    FROM monitors o
    JOIN monitor_counters c ON c.monitor_id = o.id
    LEFT JOIN match_positions p ON p.monitor_id = o.id
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS count FROM match_marks k
      WHERE k.monitor_id = o.id AND k.seq > coalesce(p.read_seq, 0) AND k.mark = 'irrelevant'
    ) AS irrelevant
    CROSS JOIN LATERAL (
      SELECT count(*)::integer - irrelevant.count AS count FROM (
        SELECT FROM matches m WHERE m.monitor_id = o.id AND m.seq > coalesce(p.read_seq, 0)
        ORDER BY m.seq LIMIT irrelevant.count + ${MAX_UNREAD_IN_LISTS}
      ) AS counted
    ) AS unread
    WHERE o.account_id = ${accountId} AND o.status <> 'deleted' AND c.last_seq > coalesce(p.read_seq, 0)
      AND unread.count > 0`,
  );
  return new Map(rows.map(({ id, unread }) => [id, unread]));
}

/** Which matches of a range are shown. */
export interface ShownMatches extends Pick<MatchFilter, 'keyword' | 'subreddit'> {
  /** Undefined: all that are not irrelevant. */
  mark?: MatchMark | undefined;
  /** This one although it is irrelevant. */
  exceptSeq?: number | undefined;
}

export type MarkedMatch = StoredMatch & { mark: MatchMark | null };

/**
 * Reads the first `limit` matches of a range that are shown, newest first. Without a mark it reads at most as many
 * matches as the range has seqs, or as are irrelevant and `limit`, when nothing else is asked for.
 */
export async function readShownMatches(
  pool: Pool,
  monitorId: string,
  range: SeqRange,
  { mark, exceptSeq, keyword, subreddit }: ShownMatches,
  limit: number,
): Promise<MarkedMatch[]> {
  const { rows } = await inIndexOrder(pool, (client) =>
    client.query<MarkedMatch>(mark === undefined ? NOT_IRRELEVANT : MARKED, [
      monitorId,
      range.first,
      range.end,
      keyword ?? null,
      subreddit?.toLowerCase() ?? null,
      limit,
      mark ?? exceptSeq ?? null,
    ]),
  );
  return rows;
}

const MATCHES = STORED_MATCHES.text.replace('SELECT', 'SELECT k.mark,');
const MARKS = 'match_marks k ON k.monitor_id = m.monitor_id AND k.seq = m.seq';
const PASSES = '($4::text IS NULL OR $4 = ANY (m.matched_terms)) AND ($5::text IS NULL OR lower(i.subreddit) = $5)';
const NOT_IRRELEVANT = `
  ${MATCHES}
  LEFT JOIN ${MARKS}
  WHERE m.monitor_id = $1 AND m.seq >= $2 AND m.seq < $3 AND ${PASSES}
    AND (m.seq = $7::bigint OR k.mark IS DISTINCT FROM 'irrelevant')
  ORDER BY m.seq DESC LIMIT $6`;
// In the order of the marks, which are few.
const MARKED = `
  ${MATCHES}
  JOIN ${MARKS}
  WHERE k.monitor_id = $1 AND k.seq >= $2 AND k.seq < $3 AND k.mark = $7::text AND ${PASSES}
  ORDER BY k.seq DESC LIMIT $6`;
