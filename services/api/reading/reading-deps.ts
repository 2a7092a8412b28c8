import type { z } from 'zod';
import type { ForumHosts } from '../../../shared/domain/forum-reference.ts';
import { READ_FORUM } from '../admission/scope.ts';
import { parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { AccountCalls, RequestCalls } from './account-calls.ts';
import type { CommentArchive } from './comment-search.ts';
import type { ForumSource } from './forum-source.ts';
import type { ListingCache } from './listing-cache.ts';
import type { PostReader } from './post-reader.ts';
import { refuseWithoutCredits } from './reading-charge.ts';
import type { ReadingCharges } from './reading-charge.ts';
import type { RenderedPosts } from './rendered-posts.ts';
import { toApiError } from './reading-failure.ts';
import type { ReadingTraits } from './reading-failure.ts';
import type { ShareLinks } from './share-links.ts';

/** What the reading routes share. */
export interface ReadingDeps {
  charges: Pick<ReadingCharges, 'charge' | 'chargeCovered'>;
  source: ForumSource;
  hosts: ForumHosts;
  shareLinks: ShareLinks;
  listings: ListingCache;
  posts: PostReader;
  rendered: RenderedPosts;
  archive: CommentArchive;
  accountCalls: AccountCalls;
}

/** The service as one request sees it: its calls to the forum count for its account. */
export function serviceFor(deps: ReadingDeps, calls: RequestCalls): ReadingDeps {
  const source = deps.source.through(calls);
  return { ...deps, source, archive: { ...deps.archive, source } };
}

/** What a route answers before it is charged. */
export interface Reading {
  body: object;
  tier: 'L1_LISTING' | 'MISS';
}

/** A reading route that costs one credit, as data. */
export interface ReadingRoute<S extends z.ZodType> {
  path: string;
  query: S;
  traits: ReadingTraits;
  read(query: z.output<S>, deps: ReadingDeps): Promise<Reading>;
}

/**
 * The route around a reading: parameters, balance, then the forum, then the charge. What fails on the way costs
 * nothing but that its calls to the forum count, see AccountCalls.
 */
export function readingRoute<S extends z.ZodType>(deps: ReadingDeps, route: ReadingRoute<S>): Route {
  return {
    method: 'get',
    path: route.path,
    scope: READ_FORUM,
    async handle({ caller, query, refuseAbandoned }: Call): Promise<Answer> {
      const asked = parseRequest(route.query, query, 'query');
      refuseWithoutCredits(caller);
      const calls = deps.accountCalls.begin(caller);
      const { body, tier } = await refusing(route.traits, () => route.read(asked, serviceFor(deps, calls)));
      refuseAbandoned();
      const charged = await deps.charges.charge(caller, 1);
      calls.paid();
      return { status: 200, body, charged, headers: { 'X-Cache-Tier': tier } };
    },
  };
}

/** Turns what the forum refused or failed into the API's errors. */
export async function refusing<T>(traits: ReadingTraits, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw toApiError(error, traits);
  }
}
