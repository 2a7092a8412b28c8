import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouseClient } from '../clickhouse/clickhouse-client.ts';
import { selectRows } from '../clickhouse/clickhouse-client.ts';
import type { Rule } from '../matching/rule.ts';
import { readContents } from './archived-item.ts';
import type { PositionRow, ArchivedItem } from './archived-item.ts';
import { narrowRule } from './narrow-rule.ts';

/** The place of an item in the archive, which is in the order of (firstSeenAt, thingId). */
export interface ArchivePosition {
  /** ISO 8601 in UTC with milliseconds. */
  firstSeenAt: string;
  thingId: string;
}

export interface CandidateQuery {
  rule: Rule;
  /** Items that may match one of these come too. */
  others?: readonly Rule[] | undefined;
  from: Date;
  /** Exclusive. */
  to: Date;
  order: 'newest' | 'oldest';
  /** The position after which the page begins: an earlier one for newest, a later one for oldest. */
  after?: ArchivePosition | undefined;
  /** At most this many items are read; at least 1, at most MOST_CANDIDATES. */
  limit: number;
  signal: AbortSignal;
  /** `windowMs` of the previous page; pages of frequent words are read faster with it. */
  windowMs?: number | undefined;
}

export interface CandidatePage {
  items: ArchivedItem[];
  /** Where the next page begins; undefined when nothing is left. A page may be empty and have one. */
  next?: ArchivePosition;
  /** How much time, in milliseconds, the next page should look at first. */
  windowMs: number;
}

/** A page of so many items takes some ten megabytes. */
export const MOST_CANDIDATES = 5_000;

/** The window of time in which a page begins to look; each following one is larger while few candidates are found. */
const FIRST_WINDOW_MS = 6 * 3_600_000;
const LEAST_WINDOW_MS = 60_000;
const GROWTH = 4;
/** A page ends early, at the edge of a window, when it takes longer. */
const PAGE_MS = 2_000;
/** The embedded engine goes on when its client gives up. */
const STATEMENT_SECONDS = 4;
/** Code of ClickHouse for a statement that took longer. */
const TOO_SLOW = '159';

/**
 * Reads a page of the items that may match a rule, in the order of (first_seen_at, thing_id), with
 * from ≤ first_seen_at < to: all that do, and some others. `MonitorIndex` or `matchOne` with `matchItemOf` decides.
 * Things that the forum removed are left out. Each thing comes once, also when several sources published it: at the
 * place at which the archive keeps it.
 *
 * Reads the positions of the candidates first, by the text indexes, in windows of time; then the content of those.
 *
 * @throws the engine's error, also when a minute of the archive takes longer than a statement may
 */
export async function readArchivedCandidates(
  clickhouse: ClickHouseClient,
  query: CandidateQuery,
): Promise<CandidatePage> {
  const { positions, next, windowMs } = await readPositions(clickhouse, query);
  const items = await readContents(clickhouse, positions, query.signal);
  return { items, windowMs, ...(next && { next }) };
}

/** The positions of the page in order, read window by window. */
async function readPositions(
  clickhouse: ClickHouseClient,
  query: CandidateQuery,
): Promise<{ positions: PositionRow[]; next: ArchivePosition | undefined; windowMs: number }> {
  const { order, after, limit, signal } = query;
  const condition = [query.rule, ...(query.others ?? [])].map(narrowRule).join('\n    OR ');
  const endsAt = performance.now() + PAGE_MS;
  const positions: PositionRow[] = [];
  let [from, to] = [query.from.getTime(), query.to.getTime()];
  if (after !== undefined && order === 'newest') to = Math.min(to, Date.parse(after.firstSeenAt) + 1);
  if (after !== undefined && order === 'oldest') from = Math.max(from, Date.parse(after.firstSeenAt));
  let windowMs = query.windowMs ?? FIRST_WINDOW_MS;
  while (from < to) {
    signal.throwIfAborted();
    const window =
      order === 'newest' ? { from: Math.max(from, to - windowMs), to } : { from, to: Math.min(to, from + windowMs) };
    const wanted = limit - positions.length;
    let found: PositionRow[];
    try {
      found = await readWindow(clickhouse, { ...query, ...window, condition, limit: wanted });
    } catch (error) {
      const isSlow = error instanceof ClickHouseError && error.code === TOO_SLOW;
      if (!isSlow || windowMs <= LEAST_WINDOW_MS) throw error;
      windowMs = Math.max(LEAST_WINDOW_MS, Math.floor(windowMs / GROWTH));
      continue;
    }
    positions.push(...found);
    const last = found.at(-1);
    if (last !== undefined && found.length === wanted) {
      const coveredMs = Math.abs(last.firstSeenAtMs - (order === 'newest' ? to : from));
      return { positions, next: positionOf(last), windowMs: Math.max(LEAST_WINDOW_MS, 2 * coveredMs) };
    }
    if (order === 'newest') to = window.from;
    else from = window.to;
    if (found.length < wanted / GROWTH) windowMs *= GROWTH;
    if (from < to && performance.now() > endsAt) {
      return { positions, next: order === 'newest' ? beforeAll(to) : afterAll(from), windowMs };
    }
  }
  return { positions, next: undefined, windowMs };
}

function positionOf({ thingId, firstSeenAtMs }: PositionRow): ArchivePosition {
  return { firstSeenAt: new Date(firstSeenAtMs).toISOString(), thingId };
}

/** The position before all items of a millisecond, and the one after all items of the millisecond before it. */
const beforeAll = (ms: number): ArchivePosition => ({ firstSeenAt: new Date(ms).toISOString(), thingId: '' });
const afterAll = (ms: number): ArchivePosition => ({ firstSeenAt: new Date(ms - 1).toISOString(), thingId: '~' });

interface WindowQuery extends Omit<CandidateQuery, 'from' | 'to'> {
  /** Milliseconds since the epoch; `to` is exclusive. */
  from: number;
  to: number;
  condition: string;
}

async function readWindow(
  clickhouse: ClickHouseClient,
  { from, to, order, after, condition, limit, signal }: WindowQuery,
): Promise<PositionRow[]> {
  const [comparison, direction] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC'];
  return selectRows<PositionRow>(
    clickhouse,
    `SELECT thing_id AS thingId, toUnixTimestamp64Milli(first_seen_at) AS firstSeenAtMs
  FROM items
 WHERE first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
   AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
   AND first_seen_at > now64(3) - INTERVAL 30 DAY
   AND ver = 1
   AND (${condition})
   ${after === undefined ? '' : `AND (first_seen_at, thing_id) ${comparison} (fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC'), {after_id: String})`}
 ORDER BY first_seen_at ${direction}, thing_id ${direction}
 LIMIT 1 BY thing_id, first_seen_at
 LIMIT {limit: UInt32}`,
    {
      from,
      to,
      after_ms: after === undefined ? 0 : Date.parse(after.firstSeenAt),
      after_id: after?.thingId ?? '',
      limit,
    },
    { seconds: STATEMENT_SECONDS, signal },
  );
}
