import * as forum from '../../../schemas/api/reading.ts';
import * as queries from '../../../schemas/api/reading.ts';
import type { Route } from '../http/route.ts';
import { listingText, subredditText, userLine } from '../mcp/tool-text.ts';
import { READS_FORUM } from '../mcp/tool.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { CachedReads } from './cached-reads.ts';
import type { CachedReadsDeps } from './cached-reads.ts';
import type { Entry, Page } from './forum-source.ts';
import { isForumUnavailable, negativeForMs, readingRoute, REFUSED_OR_UNKNOWN } from './reading-route.ts';
import type { Reading, ReadingDeps } from './reading-route.ts';

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
  const community = { ...exampleOf(forum.subreddit), rules: [exampleOf(forum.subredditRule)] };
  return [
    readingRoute(deps, {
      path: '/v1/forum/subreddit',
      operationId: 'listSubredditPosts',
      summary: 'List posts of a community',
      description: 'A page of the posts of a community. Send its `after` to get the next page.',
      query: queries.subredditQuery,
      example: { sub: 'Coffee', sort: 'hot', limit: 25 },
      content: [{ schema: forum.postListing }],
      errors: REFUSED_OR_UNKNOWN,

      tool: {
        name: 'list_subreddit_posts',
        title: "List a community's posts",
        description:
          'A page of the posts of a community. Pass the `after` of a page to get the next one. Costs 1 credit.',
        annotations: READS_FORUM,
        toText: listingText,
      },
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
      operationId: 'getSubreddit',
      summary: 'Get a community and its rules',
      description: 'The description of a community, with its rules.',
      query: queries.subredditAboutQuery,
      example: { sub: 'Coffee' },
      content: [{ schema: forum.subreddit, examples: { community } }],
      errors: REFUSED_OR_UNKNOWN,

      tool: {
        name: 'get_subreddit',
        title: 'What a community is about',
        description: 'A community with its description, number of subscribers and rules. Costs 1 credit.',
        annotations: READS_FORUM,
        toText: subredditText,
      },
      errorPolicy: COMMUNITY,
      read: ({ sub }, { source }) => readSingle(deps, `/r/${sub}/about`, () => source.subreddit(sub)),
    }),
    readingRoute(deps, {
      path: '/v1/forum/subreddit/comments',
      operationId: 'listSubredditComments',
      summary: 'List recent comments of a community',
      description: 'A page of the newest comments of a community. Send its `after` to get the next page.',
      query: queries.subredditCommentsQuery,
      example: { sub: 'Coffee', limit: 25 },
      content: [{ schema: forum.commentListing }],
      errors: REFUSED_OR_UNKNOWN,

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
      operationId: 'listSubreddits',
      summary: 'List popular or new communities',
      description: 'A page of communities. Send its `after` to get the next page.',
      query: queries.subredditsQuery,
      example: { sort: 'popular', limit: 25 },
      content: [{ schema: forum.subredditListing }],

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
      operationId: 'getUser',
      summary: 'A user',
      description: 'The profile of a user. For a suspended user the forum shows only the name.',
      query: queries.userQuery,
      example: { name: 'early_riser' },
      content: [{ schema: forum.forumUser }],
      errors: ['not_found'],

      tool: {
        name: 'get_forum_user',
        title: 'A user',
        description: 'A user with account age and karma. Costs 1 credit.',
        annotations: READS_FORUM,
        toText: userLine,
      },
      errorPolicy: USER,
      read: ({ name }, { source }) => readSingle(deps, `/user/${name}/about`, () => source.user(name)),
    }),
    readingRoute(deps, {
      path: '/v1/forum/user/posts',
      operationId: 'listUserPosts',
      summary: 'List posts of a user',
      description: 'A page of the posts of a user. Send its `after` to get the next page.',
      query: queries.userItemsQuery,
      example: { name: 'early_riser', sort: 'new' },
      content: [{ schema: forum.postListing }],
      errors: ['not_found'],

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
      operationId: 'listUserComments',
      summary: 'List comments of a user',
      description: 'A page of the comments of a user. Send its `after` to get the next page.',
      query: queries.userItemsQuery,
      example: { name: 'early_riser', sort: 'new' },
      content: [{ schema: forum.commentListing }],
      errors: ['not_found'],

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
export function pageReader(deps: ReadingDeps, path: string, params: Params, request: PageQueryOptions) {
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

interface PageQueryOptions {
  query: string | null;
  sort: string;
  /** Whether to include NSFW items. */
  nsfw: boolean;
}

/**
 * Removes and counts NSFW items. The cursor stays the forum's own, because filtering happens after the forum made its
 * page. A page from which something is missing is degraded.
 */
function pageEnvelope<T>(page: Page<T>, request: PageQueryOptions, degraded: boolean): PageEnvelope<T> {
  const entries = request.nsfw ? page.entries : page.entries.filter(({ nsfw }) => !nsfw);
  return {
    query: request.query,
    sort: request.sort,
    count: entries.length,
    items: entries.map(({ item }: Entry<T>) => item),
    after: page.after,
    filtered_nsfw: page.entries.length - entries.length,
    degraded: degraded || page.malformed > 0,
  };
}

export interface ListingCache {
  /**
   * Returns the cached value while it is fresh. Otherwise calls `fetch` and shares its result with all concurrent
   * readers.
   */
  read<T extends object>(key: string, fetch: () => Promise<T>): Promise<ListingRead<T>>;
}

export interface ListingRead<T> {
  value: T;
  tier: 'L1_LISTING' | 'MISS';
  /** The forum is unavailable, and this is an older copy. */
  degraded: boolean;
  /** When it was fetched, milliseconds since 1970. */
  fetchedAtMs: number;
}

const FRESH_FOR_MS = 30_000;

/** @param options.memoryBytes limit for all cached values together */
export function createListingCache(
  options: Pick<CachedReadsDeps<object>, 'clock' | 'memoryBytes' | 'onBytes'>,
): ListingCache {
  const reads = new CachedReads<object>({
    ...options,
    freshForMs: () => FRESH_FOR_MS,
    mayServeStale: isForumUnavailable,
    negativeForMs,
  });
  return {
    async read<T extends object>(key: string, fetch: () => Promise<T>) {
      const { value, tier, ...read } = await reads.read(key, fetch);
      // The key contains the path, so the cached value has the type that this path returns.
      return { value: value as T, tier: tier === 'MISS' ? 'MISS' : 'L1_LISTING', ...read };
    },
  };
}
