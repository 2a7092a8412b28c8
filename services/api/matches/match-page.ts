import type { MatchPageQuery } from '../../../schemas/api/matches.ts';
import type { MatchPage } from '../../../schemas/messages/monitor-match.ts';
import {
  nearestSeq,
  readFilteredMatches,
  readMatchesAfter,
  readMatchesBefore,
  readSeqRange,
} from '../../../shared/matches/match-pages.ts';
import type { MatchFilter, SeqRange } from '../../../shared/matches/match-pages.ts';
import { matchResource } from '../../../shared/matches/rules/match-resource.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { matchId, parseMatchId } from '../../../shared/rules/identifiers.ts';
import { invalidRequest } from '../http/api-error.ts';

/** A query whose cursor is valid for its order and its monitor. */
interface MatchPageRequest {
  monitorId: string;
  order: 'oldest' | 'newest';
  /** The seq of the cursor; undefined: start with the first match in this order. */
  seq: number | undefined;
  limit: number;
  /** Undefined: all matches. See readFilteredMatchPage. */
  filter?: MatchFilter | undefined;
}

/**
 * @throws ApiError invalid_request when the cursor is malformed, belongs to another monitor or does not fit the order
 */
export function matchPageRequest(monitorId: string, query: MatchPageQuery): MatchPageRequest {
  const [field, other] = query.order === 'oldest' ? (['after', 'before'] as const) : (['before', 'after'] as const);
  if (query[other] !== undefined) {
    throw invalidRequest([{ field: other, message: `cannot be used with order=${query.order}; use ${field}` }]);
  }
  const cursor = query[field];
  const named = cursor === undefined ? undefined : parseMatchId(cursor);
  if (cursor !== undefined && named === undefined) {
    throw invalidRequest([{ field, message: 'must be the id of a match' }]);
  }
  if (named !== undefined && named.monitorId !== monitorId) {
    throw invalidRequest([{ field, message: 'must be the id of a match of this monitor' }]);
  }
  return { monitorId, order: query.order, seq: named?.seq, limit: query.limit, filter: filterOf(query) };
}

function filterOf({ since, until, keyword, subreddit }: MatchPageQuery): MatchFilter | undefined {
  if ([since, until, keyword, subreddit].every((given) => given === undefined)) return undefined;
  const [from, to] = [since, until].map((time) => (time === undefined ? undefined : new Date(time)));
  if (from !== undefined && to !== undefined && from >= to) {
    throw invalidRequest([{ field: 'since', message: 'must be before `until`' }]);
  }
  return { since: from, until: to, keyword, subreddit };
}

/**
 * Refuses a cursor beyond the monitor's last match: a client that continued there would miss what is recorded until its
 * seq is reached.
 *
 * @throws ApiError invalid_request
 */
export function refuseUnrecorded({ order, seq = 0 }: MatchPageRequest, lastSeq: number): void {
  if (seq <= lastSeq) return;
  const field = order === 'oldest' ? 'after' : 'before';
  throw invalidRequest([{ field, message: 'must be the id of a match that was recorded' }]);
}

/**
 * Reads one page of all matches. The query reads one match more than the page holds: only then is there a cursor. A
 * cursor older than the retention continues with the oldest match kept, because only the order of seqs matters.
 */
export async function readMatchPage(db: Queryable, request: MatchPageRequest): Promise<MatchPage> {
  const { monitorId, order, seq, limit } = request;
  const found =
    order === 'oldest'
      ? await readMatchesAfter(db, monitorId, seq ?? 0, limit + 1)
      : await readMatchesBefore(db, monitorId, seq, limit + 1);
  const items = found.slice(0, limit).map((match) => matchResource(monitorId, match));
  const cursor = found.length > limit ? (items.at(-1)?.id ?? null) : null;
  return { items, after: order === 'oldest' ? cursor : null, before: order === 'newest' ? cursor : null };
}

/** The most matches that are read for a page, whether or not they pass its filter. */
const MAX_READ = 2_000;

const EMPTY: MatchPage = { items: [], after: null, before: null };

/**
 * Reads one page of the matches that pass a filter. A page that has read `MAX_READ` numbers ends before the next stored
 * match, with the number beside it as its cursor, so it may be empty although more matches follow. A client that
 * continues with the cursors gets every match that passes once. After a restored backup the numbers have a gap of
 * millions, which a page skips.
 */
export async function readFilteredMatchPage(pool: Pool, request: MatchPageRequest): Promise<MatchPage> {
  const { monitorId, order, limit, filter = {} } = request;
  const range = await readSeqRange(pool, monitorId, filter);
  if (range === undefined) return EMPTY;
  const { part, rest } = partOf(range, request);
  if (part.first >= part.end) return EMPTY;
  // One match more than the page holds shows whether there are more.
  const found = await readFilteredMatches(pool, monitorId, part, { filter, order, limit: limit + 1 });
  const items = found.slice(0, limit).map((match) => matchResource(monitorId, match));
  const cursor = found.length > limit ? items.at(-1)!.id : await cursorBefore(pool, request, rest);
  return { items, after: order === 'oldest' ? cursor : null, before: order === 'newest' ? cursor : null };
}

/** The cursor after which the page with the next stored match of `rest` begins; null when there is none. */
async function cursorBefore(
  pool: Pool,
  { monitorId, order }: MatchPageRequest,
  rest: SeqRange,
): Promise<string | null> {
  if (rest.first >= rest.end) return null;
  const next = await nearestSeq(pool, monitorId, rest, order);
  if (next === undefined) return null;
  return matchId(monitorId, order === 'oldest' ? next - 1 : next + 1);
}

/** The part of a range that a page reads, after its cursor, and what of the range follows it. */
function partOf({ first, end }: SeqRange, { order, seq }: MatchPageRequest): { part: SeqRange; rest: SeqRange } {
  if (order === 'oldest') {
    const from = Math.max(first, seq === undefined ? first : seq + 1);
    const to = Math.min(end, from + MAX_READ);
    return { part: { first: from, end: to }, rest: { first: to, end } };
  }
  const to = Math.min(end, seq ?? end);
  const from = Math.max(first, to - MAX_READ);
  return { part: { first: from, end: to }, rest: { first, end: from } };
}
