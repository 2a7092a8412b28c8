import type { Answer } from './answer.ts';
import { failure } from './answer.ts';
import * as listings from './listing-routes.ts';
import type { RouteRequest } from './request.ts';
import { commentsRoute, duplicatesRoute, moreChildrenRoute } from './thread-routes.ts';

type Handler = (request: RouteRequest, ...parts: (string | undefined)[]) => Answer;

const NAMES = '([\\w+-]+)';
const SORTS = '(new|hot|top|rising|controversial|comments)';

/** Path patterns and their handlers. The groups of a pattern are further arguments of the handler. */
const ROUTES: readonly [pattern: RegExp, handler: Handler][] = [
  [/^\/api\/info$/, listings.infoRoute],
  [/^\/api\/morechildren$/, moreChildrenRoute],
  [/^\/(new|hot|top|rising|controversial)$/, (request, sort) => listings.communityListing(request, 'all', sort!)],
  [new RegExp(`^/r/${NAMES}/${SORTS}$`), (request, names, sort) => listings.communityListing(request, names!, sort!)],
  [new RegExp(`^/r/${NAMES}$`), (request, names) => listings.communityListing(request, names!, 'hot')],
  [/^\/r\/(\w+)\/about$/, (request, name) => listings.aboutRoute(request, name!, false)],
  [/^\/r\/(\w+)\/about\/rules$/, (request, name) => listings.aboutRoute(request, name!, true)],
  [/^\/r\/\w+\/s\/(\w+)$/, (request, code) => listings.shareRoute(request, code!)],
  [/^\/r\/(\w+)\/search$/, (request, name) => listings.searchRoute(request, name)],
  [/^\/search$/, (request) => listings.searchRoute(request, undefined)],
  [/^(?:\/r\/\w+)?\/comments\/(\w+)$/, (request, id) => commentsRoute(request, id!, undefined)],
  [/^(?:\/r\/\w+)?\/comments\/(\w+)\/[^/]+$/, (request, id) => commentsRoute(request, id!, undefined)],
  [/^(?:\/r\/\w+)?\/comments\/(\w+)\/[^/]*\/(\w+)$/, (request, id, comment) => commentsRoute(request, id!, comment)],
  [/^(?:\/r\/\w+)?\/duplicates\/(\w+)(?:\/[^/]*)?$/, (request, id) => duplicatesRoute(request, id!)],
  [/^\/subreddits\/(popular|new|default)$/, (request, sort) => listings.communitiesRoute(request, sort!)],
  [/^\/subreddits\/search$/, listings.communitySearchRoute],
  [
    /^\/users?\/([\w-]+)\/(about|submitted|comments|overview)$/,
    (request, name, view) => listings.userRoute(request, name!, view!),
  ],
];

/** Answers an API request; paths may end in a slash or .json. */
export function route(request: RouteRequest): Answer {
  const path = request.path.replace(/\.json$/, '').replace(/(.)\/$/, '$1');
  for (const [pattern, handler] of ROUTES) {
    const parts = pattern.exec(path);
    if (!parts) continue;
    if (request.method !== 'GET' && path !== '/api/morechildren') return failure(405);
    return handler(request, ...parts.slice(1));
  }
  return failure(404);
}
