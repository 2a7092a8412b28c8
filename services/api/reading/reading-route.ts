import type { z } from 'zod';
import { UpstreamError } from '../../../shared/forum-client/upstream-error.ts';
import type { ErrorCode } from '../../../shared/rules/error-codes.ts';
import type { ForumHosts } from '../../../shared/rules/forum-reference.ts';
import type { Caller } from '../admission/caller.ts';
import { ApiError } from '../http/api-error.ts';
import { refuseWithoutCredits } from '../http/request-charges.ts';
import type { ReadingCharges } from '../http/request-charges.ts';
import { chargedRequest, route } from '../http/route.ts';
import type { Content, Route, RouteResponse } from '../http/route.ts';
import type { HeaderUse } from '../openapi/responses.ts';
import type { AccountCalls, RequestCalls } from './account-calls.ts';
import type { CommentArchiveDeps } from './comment-search.ts';
import type { ForumSource } from './forum-source.ts';
import type { ListingCache } from './listing-routes.ts';
import type { PostReader } from './post-reader.ts';
import type { RenderedPosts } from './rendered-posts.ts';
import type { ShareLinks } from './resolve-reference.ts';

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

/** The response of a route before it is charged. */
export interface Reading {
  body: object;
  tier: 'L1_LISTING' | 'MISS';
  /** When the forum was read, milliseconds since 1970; undefined: for this request. */
  fetchedAtMs?: number;
}

const READING_ERRORS = ['insufficient_credits', 'upstream_busy', 'upstream_timeout', 'upstream_error'] as const;
export const REFUSED_OR_UNKNOWN = ['forum_refused', 'not_found'] as const;

/** What the documents of all reading routes share: the response with its headers, and the errors. */
export function readingDocument(
  content: Content[],
  tiers: readonly string[],
  { errors = [], headers = [] }: { errors?: readonly ErrorCode[]; headers?: HeaderUse[] } = {},
): Pick<Route, 'method' | 'scope' | 'charges' | 'tag' | 'responses' | 'errors'> {
  const always: HeaderUse[] = [{ name: 'X-Credits-Used' }, { name: 'X-Cache-Tier', values: tiers }, { name: 'Age' }];
  return {
    method: 'get',
    scope: 'forum:read',
    charges: true,
    tag: 'Reading',
    responses: [{ status: 200, description: 'The requested content.', content, headers: [...always, ...headers] }],
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
  /** Whether responses are cached. Default: yes. */
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
    async handle(request): Promise<RouteResponse> {
      const { caller, throwIfDisconnected } = request;
      const query = request.query as z.output<S>;
      check?.(query, deps);
      refuseWithoutCredits(caller);
      const calls = deps.accountCalls.begin(caller);
      const { body, tier, fetchedAtMs } = await withApiErrors(errorPolicy, () =>
        read(query, depsForRequest(deps, calls, request.signal), caller),
      );
      throwIfDisconnected();
      const charged = await deps.charges.charge(caller, 1, chargedRequest(request));
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

/** How a route answers when the forum denies a request. */
export interface ForumErrorPolicy {
  /** The noun in the message of a 404: `community`, `post`, `user`. */
  subject: string;
  /**
   * The response to a denial:
   * - `forum_refused`: a refusal becomes forum_refused, anything unknown becomes not_found;
   * - `not_found`: both become not_found;
   * - `upstream_error`: the forum has no reason to deny this request, so something is wrong.
   */
  refusal: 'forum_refused' | 'not_found' | 'upstream_error';
}

const SHORT_WAIT_S = 1;
const LONG_WAIT_S = 5;

/** The forum's reason codes in words. */
const REASONS: Record<string, string> = {
  private: 'it is private',
  quarantined: 'it is quarantined',
  gold_only: 'it is only for paying members of the forum',
};

/** Where the forum redirects requests for a community that it does not know. */
const SEARCH_PATH = /^\/(subreddits\/)?search(\.json)?\/?$/;

/** Forbidden, and unavailable for legal reasons. */
const DENIALS = new Set<number | undefined>([403, 451]);

/**
 * Whether the forum denied this request for a lasting reason: private, banned or unknown. A block of this service by
 * the forum is not a denial, and neither is a redirect to a page for signing in.
 */
export function isDenial(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  if (error.failure === 'not_found') return true;
  if (error.failure === 'moved') return SEARCH_PATH.test(pathOf(error.location));
  return error.failure === 'refused' && DENIALS.has(error.status) && error.reason !== 'blocked';
}

/** A denial for a reason that concerns one item; without a reason the forum may be refusing all our calls. */
export function isExplainedDenial(error: unknown): boolean {
  if (!isDenial(error)) return false;
  const { failure, reason = '' } = error as UpstreamError;
  return failure !== 'refused' || REASONS[reason] !== undefined;
}

function pathOf(location = ''): string {
  return URL.canParse(location, 'https://forum.invalid') ? new URL(location, 'https://forum.invalid').pathname : '';
}

/** The name of a community, or else of a user, in a path. */
const NAMED = /^\/(r|u|user)\/([\w-]+)/i;

/**
 * Whether the forum redirects from the path of a community to another one, or to a user: the name, such as `random`, is
 * not that of a community. Other redirects may be refusals of all our calls.
 */
export function leadsToAnother(path: string, error: unknown): boolean {
  if (!(error instanceof UpstreamError) || error.failure !== 'moved') return false;
  const [, kind, requested = ''] = NAMED.exec(path) ?? [];
  const [, , found] = NAMED.exec(pathOf(error.location)) ?? [];
  return kind === 'r' && found !== undefined && found.toLowerCase() !== requested.toLowerCase();
}

/** Whether the forum is unavailable, so that an older copy is better than no response. */
export function isForumUnavailable(error: unknown): boolean {
  return error instanceof UpstreamError && !isDenial(error);
}

/**
 * Whether a call failed because of the forum or our own budget, not because of what was requested: callers can provoke
 * redirects, denials, any 404 and too large answers at will.
 */
export function isFaultOfForum(error: unknown): boolean {
  if (!(error instanceof UpstreamError)) return false;
  const { failure, status, reason } = error;
  if (failure === 'refused') return status === 401 || (status === 403 && reason === 'blocked');
  if (failure === 'broken') return status !== 404 && reason !== 'too_large';
  return failure === 'busy' || failure === 'timeout';
}

const DENIAL_FOR_MS = 60_000;

/** How long a denial is cached, in milliseconds; 0: not at all. */
export function negativeForMs(error: unknown): number {
  return isDenial(error) ? DENIAL_FOR_MS : 0;
}

/** Translates the failure of a forum call into an API error. Other errors are returned unchanged. */
export function toApiError(error: unknown, { subject, refusal }: ForumErrorPolicy): unknown {
  if (!(error instanceof UpstreamError)) return error;
  if (isDenial(error) && refusal !== 'upstream_error') {
    const isRefused = error.failure === 'refused' && refusal === 'forum_refused';
    if (!isRefused) return new ApiError('not_found', `The forum has no such ${subject}.`);
    const why = REASONS[error.reason ?? ''] ?? `it answered "${printable(error.reason)}"`;
    return new ApiError('forum_refused', `The forum does not show this to logged-out readers: ${why}.`);
  }
  if (error.failure === 'busy') {
    const retryAfter = Math.max(SHORT_WAIT_S, Math.ceil((error.retryAfterMs ?? 0) / 1000));
    return new ApiError('upstream_busy', 'The forum is not accepting more requests at the moment. Try again shortly.', {
      retryAfter,
    });
  }
  const retryAfter = Math.max(LONG_WAIT_S, Math.ceil((error.retryAfterMs ?? 0) / 1000));
  if (error.failure === 'timeout') {
    return new ApiError('upstream_timeout', 'The forum did not respond in time. Try again shortly.', { retryAfter });
  }
  return new ApiError('upstream_error', 'The forum could not be read. Try again shortly.', { retryAfter });
}

function printable(reason = ''): string {
  return reason.replace(/[^\w .-]/g, '?').slice(0, 50);
}
