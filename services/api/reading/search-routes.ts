import * as queries from '../../../schemas/api/reading-queries.ts';
import type { Route } from '../http/route.ts';
import { searchComments } from './comment-search.ts';
import type { Page } from './forum-source.ts';
import { pageOf, within } from './listing-routes.ts';
import { isDenial } from './reading-failure.ts';
import { readingRoute } from './reading-deps.ts';
import type { Reading, ReadingDeps } from './reading-deps.ts';

const SEARCH = { subject: 'page of results', refusal: 'upstream_error' } as const;
const KINDS = { post: 'link', subreddit: 'sr', user: 'user' } as const;

/** Search of posts, communities and users by the forum itself, and of comments in the archive. */
export function searchRoutes(deps: ReadingDeps): Route[] {
  return [
    readingRoute(deps, {
      path: '/v1/forum/search',
      query: queries.searchQuery,
      traits: SEARCH,
      read: (query, at) => search(at, query),
    }),
    readingRoute(deps, {
      path: '/v1/forum/search/comments',
      query: queries.commentSearchQuery,
      traits: SEARCH,
      read: async (query, { archive }) => ({ body: await searchComments(archive, query), tier: 'MISS' }),
    }),
  ];
}

async function search(deps: ReadingDeps, query: ReturnType<typeof queries.searchQuery.parse>): Promise<Reading> {
  const { q, type, sub, sort, nsfw, limit, after } = query;
  const { source } = deps;
  const isWithin = type === 'post' && sub !== undefined;
  const path = isWithin ? `/r/${sub}/search` : '/search';
  const params: Record<string, string> = {
    q,
    type: KINDS[type],
    limit: String(limit),
    // The forum leaves NSFW results out of its own accord otherwise, and would not say how many.
    include_over_18: 'on',
    ...(type === 'post' ? { sort, t: query.t ?? 'all' } : {}),
    ...(isWithin ? { restrict_sr: 'on' } : {}),
    ...(after === undefined ? {} : { after }),
  };
  const read = pageOf(deps, path, params, { query: q, sort: type === 'post' ? sort : 'relevance', nsfw });
  if (type === 'subreddit') return read((at) => source.subreddits(at, params, '/search'));
  if (type === 'user') return read((at) => source.users(at, params, '/search'));
  const page = read((at) => emptyWhereDenied(source.posts(at, params, '/search')));
  return within(sub ?? null, await page);
}

/** A community that is unknown or may not be read has no results. */
async function emptyWhereDenied<T>(fetched: Promise<Page<T>>): Promise<Page<T>> {
  try {
    return await fetched;
  } catch (error) {
    if (isDenial(error)) return { entries: [], after: null };
    throw error;
  }
}
