import type { MatchPage } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { nearestSeq, readFilteredMatches, readSeqRange } from '../../../shared/stores/matches/filtered-matches.ts';
import type { SeqRange } from '../../../shared/stores/matches/filtered-matches.ts';
import type { MatchPageRequest } from './match-page.ts';

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
