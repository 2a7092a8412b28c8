import type { z } from 'zod';
import { CachedReads } from './cached-reads.ts';
import type { CachedReadsDeps } from './cached-reads.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import type { ForumHosts } from '../../../shared/rules/forum-reference.ts';
import type { Caller } from '../admission/caller.ts';
import { chargedRequest, route } from '../http/route.ts';
import type { RouteResponse, Content, Route } from '../http/route.ts';
import type { HeaderUse } from '../openapi/response-headers.ts';
import type { AccountCalls, RequestCalls } from './account-calls.ts';
import type { CommentArchiveDeps } from './comment-search.ts';
import type { ForumSource } from './forum-source.ts';
import type { PostReader } from './post-reader.ts';
import { refuseWithoutCredits } from './reading-charge.ts';
import type { ReadingCharges } from './reading-charge.ts';
import { isForumUnavailable, negativeForMs, toApiError } from './reading-failure.ts';
import type { ForumErrorPolicy } from './reading-failure.ts';
import type { RenderedPosts } from './rendered-posts.ts';
import type { ShareLinks } from './share-links.ts';

/** Collaborators of the reading routes. */
export interface ReadingDeps {
  charges: Pick<ReadingCharges, 'charge' | 'chargeCovered'>;
  source: ForumSource;
  hosts: ForumHosts;
  shareLinks: ShareLinks;
  listings: ListingCache;
  posts: PostReader;
  rendered: RenderedPosts;
  archive: CommentArchiveDeps;
  accountCalls: AccountCalls;
}

/** Returns the dependencies for one request. Its forum calls count against its account. */
export function depsForRequest(deps: ReadingDeps, calls: RequestCalls, signal?: AbortSignal): ReadingDeps {
  const source = deps.source.through(calls);
  return { ...deps, source, archive: { ...deps.archive, source, signal } };
}

/** The answer of a route before it is charged. */
export interface Reading {
  body: object;
  tier: 'L1_LISTING' | 'MISS';
  /** When the forum was read, milliseconds since 1970; undefined: for this request. */
  fetchedAtMs?: number;
}

/** Errors of every reading route. */
const READING_ERRORS = ['insufficient_credits', 'upstream_busy', 'upstream_timeout', 'upstream_error'] as const;
export const REFUSED_OR_UNKNOWN = ['forum_refused', 'not_found'] as const;

/** What the document of every reading route has: the answer with its headers, and the errors. */
export function readingDocument(
  content: Content[],
  tiers: readonly string[],
  { errors = [], headers = [] }: { errors?: readonly ErrorCode[]; headers?: HeaderUse[] } = {},
): Pick<Route, 'method' | 'scope' | 'charges' | 'tag' | 'answers' | 'errors'> {
  const always: HeaderUse[] = [{ name: 'X-Credits-Used' }, { name: 'X-Cache-Tier', values: tiers }, { name: 'Age' }];
  return {
    method: 'get',
    scope: 'forum:read',
    charges: true,
    tag: 'Reading',
    answers: [{ status: 200, description: 'The requested content.', content, headers: [...always, ...headers] }],
    errors: [...READING_ERRORS, ...errors],
  };
}

/** A route that reads the forum for one credit, as data. */
export interface ReadingRoute<S extends z.ZodObject> extends Pick<
  Route,
  'path' | 'operationId' | 'summary' | 'description' | 'example' | 'tool'
> {
  query: S;
  content: Content[];
  /** Whether answers are cached. Default: yes. */
  isCached?: boolean;
  /** In addition to those of every reading route. */
  errors?: readonly ErrorCode[];
  errorPolicy: ForumErrorPolicy;
  /**
   * What the schema cannot check, before the balance.
   *
   * @throws ApiError invalid_request
   */
  check?: (query: z.output<S>, deps: ReadingDeps) => unknown;
  read: (query: z.output<S>, deps: ReadingDeps, caller: Caller) => Promise<Reading>;
}

/**
 * Wraps a reading in a route: validate the parameters, check the balance, read the forum, then charge. A request that
 * fails costs no credits, but its forum calls count against its account, see AccountCalls.
 */
export function readingRoute<S extends z.ZodObject>(deps: ReadingDeps, declared: ReadingRoute<S>): Route {
  const { errorPolicy, check, read, content, isCached = true, errors = [], ...given } = declared;
  return route<S>({
    ...given,
    ...readingDocument(content, isCached ? ['L1_LISTING', 'MISS'] : ['MISS'], { errors }),
    async handle(call): Promise<RouteResponse> {
      const { caller, refuseAbandoned } = call;
      const query = call.query as z.output<S>;
      check?.(query, deps);
      refuseWithoutCredits(caller);
      const calls = deps.accountCalls.begin(caller);
      const { body, tier, fetchedAtMs } = await withApiErrors(errorPolicy, () =>
        read(query, depsForRequest(deps, calls, call.signal), caller),
      );
      refuseAbandoned();
      const charged = await deps.charges.charge(caller, 1, chargedRequest(call, { method: 'get', path: given.path }));
      calls.markPaid();
      return { status: 200, body, charged, headers: { 'X-Cache-Tier': tier, Age: ageOf(deps, fetchedAtMs) } };
    },
  });
}

/** The header Age (RFC 9111): the seconds since the forum was read. */
export function ageOf({ archive: { clock } }: Pick<ReadingDeps, 'archive'>, fetchedAtMs = clock()): string {
  return String(Math.max(0, Math.floor((clock() - fetchedAtMs) / 1000)));
}

/** Translates refusals and failures of the forum into API errors. */
export async function withApiErrors<T>(errorPolicy: ForumErrorPolicy, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw toApiError(error, errorPolicy);
  }
}

/** Cached listings, communities and users. */
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
