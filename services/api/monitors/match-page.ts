import type { MatchPage } from '../../../schemas/messages/monitor-match.ts';
import type { MatchPageQuery } from '../../../schemas/api/match-page-query.ts';
import { parseMatchId } from '../../../shared/domain/identifiers.ts';
import { matchResource } from '../../../shared/domain/match-resource.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { MatchFilter } from '../../../shared/stores/matches/filtered-matches.ts';
import { readMatchesAfter, readMatchesBefore } from '../../../shared/stores/matches/match-pages.ts';
import { invalidRequest } from '../http/invalid-request.ts';

/** A query whose cursor is valid for its order and its monitor. */
export interface MatchPageRequest {
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
