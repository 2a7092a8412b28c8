import { ClickHouseError } from '@clickhouse/client';
import type { ClickHouseClient } from '../../clickhouse/clickhouse-client.ts';
import type { Rule } from '../../matching/rule.ts';
import { archivedItemOf, ITEM_COLUMNS } from './archived-item.ts';
import type { ArchivedItem, ItemRow } from './archived-item.ts';
import { narrowRule } from './narrow-rule.ts';

/** The place of an item in the archive, which is in the order of (firstSeenAt, thingId). */
export interface ArchivePosition {
  /** ISO 8601 in UTC with milliseconds. */
  firstSeenAt: string;
  thingId: string;
}

export interface CandidateQuery {
  rule: Rule;
  from: Date;
  /** Exclusive. */
  to: Date;
  order: 'newest' | 'oldest';
  /** The position after which the page begins: an earlier one for newest, a later one for oldest. */
  after?: ArchivePosition | undefined;
  /** At most this many items are read; at least 1, at most MOST_CANDIDATES. */
  limit: number;
  signal: AbortSignal;
}

export interface CandidatePage {
  items: ArchivedItem[];
  /** Where the next page begins; undefined when nothing is left. A page may be empty and have one. */
  next?: ArchivePosition;
}

/** A page of so many items takes some ten megabytes. */
export const MOST_CANDIDATES = 5_000;

const HOUR_MS = 3_600_000;
/** The first window of time of a page; each following one is larger while few candidates are found. */
const FIRST_WINDOW_MS = 6 * HOUR_MS;
const GROWTH = 4;
const LEAST_WINDOW_MS = 60_000;
/** A client that gives up does not end its statement. */
const STATEMENT_SECONDS = 8;
/** Code of ClickHouse for a statement that took longer. */
const TOO_SLOW = '159';

interface PositionRow {
  thing_id: string;
  firstSeenAtMs: number;
}

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
  const positions = await readPositions(clickhouse, query);
  const last = positions.at(-1);
  if (last === undefined) return { items: [] };
  const items = await readContents(clickhouse, positions, query);
  return positions.length < query.limit ? { items } : { items, next: positionOf(last) };
}

function positionOf({ thing_id, firstSeenAtMs }: PositionRow): ArchivePosition {
  return { firstSeenAt: new Date(firstSeenAtMs).toISOString(), thingId: thing_id };
}

/** The positions of the page in order, read window by window. */
async function readPositions(clickhouse: ClickHouseClient, query: CandidateQuery): Promise<PositionRow[]> {
  const { order, after, limit, signal } = query;
  const condition = narrowRule(query.rule);
  const positions: PositionRow[] = [];
  let [from, to] = [query.from.getTime(), query.to.getTime()];
  if (after !== undefined && order === 'newest') to = Math.min(to, Date.parse(after.firstSeenAt) + 1);
  if (after !== undefined && order === 'oldest') from = Math.max(from, Date.parse(after.firstSeenAt));
  let windowMs = FIRST_WINDOW_MS;
  while (from < to && positions.length < limit) {
    signal.throwIfAborted();
    const window =
      order === 'newest' ? { from: Math.max(from, to - windowMs), to } : { from, to: Math.min(to, from + windowMs) };
    const wanted = limit - positions.length;
    try {
      positions.push(...(await readWindow(clickhouse, { ...query, ...window, condition, limit: wanted })));
    } catch (error) {
      if (!isTooSlow(error) || windowMs <= LEAST_WINDOW_MS) throw error;
      windowMs = Math.max(LEAST_WINDOW_MS, Math.floor(windowMs / GROWTH));
      continue;
    }
    if (order === 'newest') to = window.from;
    else from = window.to;
    windowMs *= GROWTH;
  }
  return positions;
}

function isTooSlow(error: unknown): boolean {
  return error instanceof ClickHouseError && error.code === TOO_SLOW;
}

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
  const result = await clickhouse.query({
    query: `SELECT DISTINCT thing_id, toUnixTimestamp64Milli(first_seen_at) AS firstSeenAtMs
  FROM items
 WHERE first_seen_at >= fromUnixTimestamp64Milli({from: Int64}, 'UTC')
   AND first_seen_at < fromUnixTimestamp64Milli({to: Int64}, 'UTC')
   AND first_seen_at > now64(3) - INTERVAL 30 DAY
   AND ver = 1
   AND ${condition}
   ${after === undefined ? '' : `AND (first_seen_at, thing_id) ${comparison} (fromUnixTimestamp64Milli({after_ms: Int64}, 'UTC'), {after_id: String})`}
 ORDER BY first_seen_at ${direction}, thing_id ${direction}
 LIMIT {limit: UInt32}`,
    query_params: {
      from,
      to,
      after_ms: after === undefined ? 0 : Date.parse(after.firstSeenAt),
      after_id: after?.thingId ?? '',
      limit,
    },
    format: 'JSONEachRow',
    clickhouse_settings: { max_execution_time: STATEMENT_SECONDS },
    abort_signal: signal,
  });
  return result.json<PositionRow>();
}

/**
 * The items at these positions, in their order. The newest row of a thing counts: when it is at another position, or
 * blank because the forum removed the thing, the thing is left out here.
 */
async function readContents(
  clickhouse: ClickHouseClient,
  positions: readonly PositionRow[],
  { signal }: CandidateQuery,
): Promise<ArchivedItem[]> {
  const result = await clickhouse.query({
    // The ids are letters and digits. As a parameter they would be too long for the address of the request.
    query: `SELECT ${ITEM_COLUMNS} FROM items FINAL
 WHERE thing_id IN (${positions.map(({ thing_id }) => `'${thing_id}'`).join(',')}) AND ver = 1`,
    format: 'JSONEachRow',
    clickhouse_settings: { max_execution_time: STATEMENT_SECONDS },
    abort_signal: signal,
  });
  const found = new Map<string, ItemRow>();
  for (const row of await result.json<ItemRow>()) found.set(row.content.thing_id, row);
  return positions.flatMap(({ thing_id, firstSeenAtMs }) => {
    const row = found.get(thing_id);
    return row?.firstSeenAtMs === firstSeenAtMs ? [archivedItemOf(row)] : [];
  });
}
