import type { MatchPage } from '../../../schemas/messages/monitor-match.ts';
import { matchId } from '../../../shared/domain/identifiers.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readFilteredMatches, readSeqRange } from '../../../shared/stores/matches/filtered-matches.ts';
import type { SeqRange } from '../../../shared/stores/matches/filtered-matches.ts';
import type { MatchPageRequest } from './match-page.ts';

/** The most matches that are read for a page, whether or not they pass its filter. */
const MAX_READ = 2_000;

const EMPTY: MatchPage = { items: [], after: null, before: null };

/**
 * Reads one page of the matches that pass a filter. A page that has read `MAX_READ` matches ends there, with the last
 * one that it read as its cursor, so it may be empty although more matches follow. A client that continues with the
 * cursors gets every match that passes once.
 */
export async function readFilteredMatchPage(pool: Pool, request: MatchPageRequest): Promise<MatchPage> {
  const { monitorId, order, limit, filter = {} } = request;
  const range = await readSeqRange(pool, monitorId, filter);
  if (range === undefined) return EMPTY;
  const { part, isLast } = partOf(range, request);
  if (part.first >= part.end) return EMPTY;
  // One match more than the page holds shows whether there are more.
  const found = await readFilteredMatches(pool, monitorId, part, { filter, order, limit: limit + 1 });
  const items = found.slice(0, limit).map((match) => matchResource(monitorId, match));
  const lastRead = matchId(monitorId, order === 'oldest' ? part.end - 1 : part.first);
  const cursor = found.length > limit ? items.at(-1)!.id : isLast ? null : lastRead;
  return { items, after: order === 'oldest' ? cursor : null, before: order === 'newest' ? cursor : null };
}

/** The part of a range that a page reads, after its cursor, and whether nothing of the range follows. */
function partOf({ first, end }: SeqRange, { order, seq }: MatchPageRequest): { part: SeqRange; isLast: boolean } {
  if (order === 'oldest') {
    const from = Math.max(first, seq === undefined ? first : seq + 1);
    const to = Math.min(end, from + MAX_READ);
    return { part: { first: from, end: to }, isLast: to === end };
  }
  const to = Math.min(end, seq ?? end);
  const from = Math.max(first, to - MAX_READ);
  return { part: { first: from, end: to }, isLast: from === first };
}
