import * as queries from '../../../schemas/api/reading-queries.ts';
import type { Route } from '../http/route.ts';
import type { Page } from './forum-source.ts';
import { pageEnvelope } from './page-envelope.ts';
import type { PageEnvelope, PageRequest } from './page-envelope.ts';
import { readingRoute } from './reading-deps.ts';
import type { Reading, ReadingDeps } from './reading-deps.ts';

const COMMUNITY = { subject: 'community', refusal: 'forum_refused' } as const;
const COMMUNITIES = { subject: 'list of communities', refusal: 'upstream_error' } as const;
const USER = { subject: 'user', refusal: 'not_found' } as const;

/** Only these two look at a window of time. */
const WINDOWED = new Set(['top', 'controversial']);

type Params = Record<string, string>;

interface PageQuery {
  limit: number;
  after?: string | undefined;
}

function paging({ limit, after }: PageQuery): Params {
  return { limit: String(limit), ...(after === undefined ? {} : { after }) };
}

/** The window is always said to the forum, whose own default is another one. */
function windowOf(sort: string, given: string | undefined, byDefault: string): Params {
  return WINDOWED.has(sort) ? { t: given ?? byDefault } : {};
}

/** The routes whose answer is one page of a listing, and those of one community or user. */
export function listingRoutes(deps: ReadingDeps): Route[] {
  return [...communityRoutes(deps), ...userRoutes(deps)];
}

function communityRoutes(deps: ReadingDeps): Route[] {
  return [
    readingRoute(deps, {
      path: '/v1/forum/subreddit',
      query: queries.subredditQuery,
      traits: COMMUNITY,
      read: async (query, { source }) => {
        const { sub, sort, nsfw } = query;
        const params = { ...paging(query), ...windowOf(sort, query.t, 'day') };
        const read = pageOf(deps, `/r/${sub}/${sort}`, params, { query: null, sort, nsfw });
        return within(sub, await read((path) => source.posts(path, params, '/r/NAME/SORT')));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddit/about',
      query: queries.subredditAboutQuery,
      traits: COMMUNITY,
      read: ({ sub }, { source }) => single(deps, `/r/${sub}/about`, () => source.subreddit(sub)),
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddit/comments',
      query: queries.subredditCommentsQuery,
      traits: COMMUNITY,
      read: async (query, { source }) => {
        const params = paging(query);
        const request = { query: null, sort: 'new', nsfw: query.nsfw };
        const read = pageOf(deps, `/r/${query.sub}/comments`, params, request);
        return within(query.sub, await read((path) => source.comments(path, params, '/r/NAME/comments')));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddits',
      query: queries.subredditsQuery,
      traits: COMMUNITIES,
      read: (query, { source }) => {
        const params = paging(query);
        const request = { query: null, sort: query.sort, nsfw: query.nsfw };
        const read = pageOf(deps, `/subreddits/${query.sort}`, params, request);
        return read((path) => source.subreddits(path, params, '/subreddits/SORT'));
      },
    }),
  ];
}

function userRoutes(deps: ReadingDeps): Route[] {
  return [
    readingRoute(deps, {
      path: '/v1/forum/user',
      query: queries.userQuery,
      traits: USER,
      read: ({ name }, { source }) => single(deps, `/user/${name}/about`, () => source.user(name)),
    }),
    readingRoute(deps, {
      path: '/v1/forum/user/posts',
      query: queries.userItemsQuery,
      traits: USER,
      read: async (query, { source }) => {
        const { name, sort, nsfw } = query;
        const params = { ...paging(query), sort, ...windowOf(sort, query.t, 'all') };
        const read = pageOf(deps, `/user/${name}/submitted`, params, { query: null, sort, nsfw });
        return within(null, await read((path) => source.posts(path, params, '/user/NAME/submitted')));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/user/comments',
      query: queries.userItemsQuery,
      traits: USER,
      read: async (query, { source }) => {
        const { name, sort, nsfw } = query;
        const params = { ...paging(query), sort, ...windowOf(sort, query.t, 'all') };
        const read = pageOf(deps, `/user/${name}/comments`, params, { query: null, sort, nsfw });
        return within(null, await read((path) => source.comments(path, params, '/user/NAME/comments')));
      },
    }),
  ];
}

/** A page through the cache: the same page for all who ask, filtered for each. */
export function pageOf(deps: ReadingDeps, path: string, params: Params, request: PageRequest) {
  return async <T>(fetch: (path: string) => Promise<Page<T>>): Promise<Reading & { body: PageEnvelope<T> }> => {
    const key = `${path.toLowerCase()}?${new URLSearchParams(params).toString()}`;
    const { value, tier, degraded } = await deps.listings.read(key, () => fetch(path));
    return { body: pageEnvelope(value, request, degraded), tier };
  };
}

/** With the community that was asked for, as the client wrote it. */
export function within<T>(subreddit: string | null, { body, tier }: Reading & { body: PageEnvelope<T> }): Reading {
  return { body: { subreddit, ...body }, tier };
}

async function single<T extends object>(deps: ReadingDeps, path: string, fetch: () => Promise<T>): Promise<Reading> {
  const { value, tier } = await deps.listings.read(path.toLowerCase(), fetch);
  return { body: value, tier };
}
