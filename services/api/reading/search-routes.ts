import { z } from 'zod';
import * as forum from '../../../schemas/api/reading.ts';
import * as queries from '../../../schemas/api/reading.ts';
import type { Route } from '../http/route.ts';
import { listingText } from '../mcp/tool-text.ts';
import { READS_FORUM } from '../mcp/tool.ts';
import { ArchiveQueries } from './archive-queries.ts';
import { searchComments, termsOf } from './comment-search.ts';
import type { Page } from './forum-source.ts';
import { pageReader, withSubreddit } from './listing-routes.ts';
import { isExplainedDenial, readingRoute } from './reading-route.ts';
import type { Reading, ReadingDeps } from './reading-route.ts';

const SEARCH = { subject: 'page of results', refusal: 'upstream_error' } as const;
const KINDS = { post: 'link', subreddit: 'sr', user: 'user' } as const;

/** Searches posts, communities and users on the forum, and comments in the archive. */
export function searchRoutes(deps: ReadingDeps): Route[] {
  const archiveQueries = new ArchiveQueries(deps.archive.clickhouse);
  return [
    readingRoute(deps, {
      path: '/v1/forum/search',
      operationId: 'searchForum',
      summary: 'Search posts, communities or users',
      description:
        "A page of the forum's search results. For an unknown or private community, the page of posts is empty; this is not an error.",
      query: queries.searchQuery,
      example: { q: 'french press', type: 'post', sub: 'Coffee' },
      content: [{ schema: forum.postListing }, { schema: forum.subredditListing }, { schema: forum.userListing }],

      tool: {
        name: 'search_forum',
        title: 'Search the forum',
        description: 'A page of the posts, communities or users (`type`) that a search finds. Costs 1 credit.',
        annotations: READS_FORUM,
        output: z.union([forum.postListing, forum.subredditListing, forum.userListing]),
        toText: listingText,
      },
      errorPolicy: SEARCH,
      read: (query, requestDeps) => search(requestDeps, query),
    }),
    readingRoute(deps, {
      path: '/v1/forum/search/comments',
      operationId: 'searchComments',
      summary: 'Search comments',
      description:
        "A page of about a dozen comments from this service's own archive of the comments that it saw in the last 30 days. `sort=new` finds all comments that contain all words; `relevance` and `top` rank the 2,000 of them that were seen last. Results are looked up on the forum: scores are current, and deleted comments are omitted.",
      query: queries.commentSearchQuery,
      example: { q: 'sour "four minutes"', sub: 'Coffee' },
      content: [{ schema: forum.commentListing }],
      isCached: false,
      errors: ['forum_refused'],

      errorPolicy: SEARCH,
      check: termsOf,
      read: async (query, { archive }, { accountId }) => {
        const queryArchive = archiveQueries.begin(accountId, archive.signal);
        return { body: await searchComments({ ...archive, queryArchive }, query), tier: 'MISS' };
      },
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
    // Otherwise the forum removes NSFW results and does not say how many.
    include_over_18: 'on',
    ...(type === 'post' ? { sort, t: query.t ?? 'all' } : {}),
    ...(isWithin ? { restrict_sr: 'on' } : {}),
    ...(after === undefined ? {} : { after }),
  };
  const read = pageReader(deps, path, params, { query: q, sort: type === 'post' ? sort : 'relevance', nsfw });
  if (type === 'subreddit') return read((searchPath) => source.subreddits(searchPath, params, '/search'));
  if (type === 'user') return read((searchPath) => source.users(searchPath, params, '/search'));
  const page = read((searchPath) => {
    const fetched = source.posts(searchPath, params, '/search');
    return isWithin ? emptyWhereDenied(fetched) : fetched;
  });
  return withSubreddit(sub ?? null, await page);
}

/** An unknown or inaccessible community has no results; a refusal without a reason may be one of all our calls. */
async function emptyWhereDenied<T>(fetched: Promise<Page<T>>): Promise<Page<T>> {
  try {
    return await fetched;
  } catch (error) {
    if (isExplainedDenial(error)) return { entries: [], after: null, malformed: 0 };
    throw error;
  }
}
