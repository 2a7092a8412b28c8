import * as queries from '../../../schemas/api/reading-queries.ts';
import type { Route } from '../http/route.ts';
import type { Page, Entry } from './forum-source.ts';
import { readingRoute } from './reading-deps.ts';
import type { Reading, ReadingDeps } from './reading-deps.ts';

const COMMUNITY = { subject: 'community', refusal: 'forum_refused' } as const;
const COMMUNITIES = { subject: 'list of communities', refusal: 'upstream_error' } as const;
const USER = { subject: 'user', refusal: 'not_found' } as const;

/** Only these sort orders use a time window. */
const WINDOWED = new Set(['top', 'controversial']);

type Params = Record<string, string>;

interface PageQuery {
  limit: number;
  after?: string | undefined;
}

function paging({ limit, after }: PageQuery): Params {
  return { limit: String(limit), ...(after === undefined ? {} : { after }) };
}

/** Always sends the time window, because the forum's default differs from ours. */
function timeWindow(sort: string, given: string | undefined, byDefault: string): Params {
  return WINDOWED.has(sort) ? { t: given ?? byDefault } : {};
}

/** Routes that return one page of a listing, a community or a user. */
export function listingRoutes(deps: ReadingDeps): Route[] {
  return [...communityRoutes(deps), ...userRoutes(deps)];
}

function communityRoutes(deps: ReadingDeps): Route[] {
  return [
    readingRoute(deps, {
      path: '/v1/forum/subreddit',
      query: queries.subredditQuery,
      errorPolicy: COMMUNITY,
      read: async (query, { source }) => {
        const { sub, sort, nsfw } = query;
        const params = { ...paging(query), ...timeWindow(sort, query.t, 'day') };
        const read = pageReader(deps, `/r/${sub}/${sort}`, params, { query: null, sort, nsfw });
        return withSubreddit(sub, await read((path) => source.posts(path, params, '/r/NAME/SORT')));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddit/about',
      query: queries.subredditAboutQuery,
      errorPolicy: COMMUNITY,
      read: ({ sub }, { source }) => readSingle(deps, `/r/${sub}/about`, () => source.subreddit(sub)),
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddit/comments',
      query: queries.subredditCommentsQuery,
      errorPolicy: COMMUNITY,
      read: async (query, { source }) => {
        const params = paging(query);
        const request = { query: null, sort: 'new', nsfw: query.nsfw };
        const read = pageReader(deps, `/r/${query.sub}/comments`, params, request);
        return withSubreddit(query.sub, await read((path) => source.comments(path, params, '/r/NAME/comments')));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddits',
      query: queries.subredditsQuery,
      errorPolicy: COMMUNITIES,
      read: (query, { source }) => {
        const params = paging(query);
        const request = { query: null, sort: query.sort, nsfw: query.nsfw };
        const read = pageReader(deps, `/subreddits/${query.sort}`, params, request);
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
      errorPolicy: USER,
      read: ({ name }, { source }) => readSingle(deps, `/user/${name}/about`, () => source.user(name)),
    }),
    readingRoute(deps, {
      path: '/v1/forum/user/posts',
      query: queries.userItemsQuery,
      errorPolicy: USER,
      read: async (query, { source }) => {
        const { name, sort, nsfw } = query;
        const params = { ...paging(query), sort, ...timeWindow(sort, query.t, 'all') };
        const read = pageReader(deps, `/user/${name}/submitted`, params, { query: null, sort, nsfw });
        return withSubreddit(null, await read((path) => source.posts(path, params, '/user/NAME/submitted')));
      },
    }),
    readingRoute(deps, {
      path: '/v1/forum/user/comments',
      query: queries.userItemsQuery,
      errorPolicy: USER,
      read: async (query, { source }) => {
        const { name, sort, nsfw } = query;
        const params = { ...paging(query), sort, ...timeWindow(sort, query.t, 'all') };
        const read = pageReader(deps, `/user/${name}/comments`, params, { query: null, sort, nsfw });
        return withSubreddit(null, await read((path) => source.comments(path, params, '/user/NAME/comments')));
      },
    }),
  ];
}

/** Reads a page through the cache. All readers share the same page, and each filters it. */
export function pageReader(deps: ReadingDeps, path: string, params: Params, request: PageRequest) {
  return async <T>(fetch: (path: string) => Promise<Page<T>>): Promise<Reading & { body: PageEnvelope<T> }> => {
    const key = `${path.toLowerCase()}?${new URLSearchParams(params).toString()}`;
    const { value, tier, degraded, fetchedAtMs } = await deps.listings.read(key, () => fetch(path));
    return { body: pageEnvelope(value, request, degraded), tier, fetchedAtMs };
  };
}

/** Adds the requested community, spelled as the client sent it. */
export function withSubreddit<T>(
  subreddit: string | null,
  { body, ...read }: Reading & { body: PageEnvelope<T> },
): Reading {
  return { body: { subreddit, ...body }, ...read };
}

async function readSingle<T extends object>(
  deps: ReadingDeps,
  path: string,
  fetch: () => Promise<T>,
): Promise<Reading> {
  const { value, tier, fetchedAtMs } = await deps.listings.read(path.toLowerCase(), fetch);
  return { body: value, tier, fetchedAtMs };
}

/** The fields that all listings share. */
interface PageEnvelope<T> {
  query: string | null;
  sort: string;
  count: number;
  items: T[];
  after: string | null;
  filtered_nsfw: number;
  degraded: boolean;
}

interface PageRequest {
  query: string | null;
  sort: string;
  /** Whether to include NSFW items. */
  nsfw: boolean;
}

/**
 * Removes and counts NSFW items. The cursor stays the forum's own, because filtering happens after the forum made its
 * page. A page from which something is missing is degraded.
 */
function pageEnvelope<T>(page: Page<T>, request: PageRequest, degraded: boolean): PageEnvelope<T> {
  const entries = request.nsfw ? page.entries : page.entries.filter(({ nsfw }) => !nsfw);
  return {
    query: request.query,
    sort: request.sort,
    count: entries.length,
    items: entries.map(({ item }: Entry<T>) => item),
    after: page.after,
    filtered_nsfw: page.entries.length - entries.length,
    degraded: degraded || page.unreadable > 0,
  };
}
