/**
 * Status, error code, RateLimit, X-Credits-Remaining, Retry-After and Allow of the answers to two requests in a row.
 */
type Answers = readonly [first: string, second: string];

/** The answers for a key without permissions, and for one with all. */
export type PermissionCase = readonly [method: string, target: string, without: Answers, permitted: Answers];

/** RateLimit of a free account that sent one request at 20:00 UTC. */
const TAKEN = '"burst";r=0;t=1, "day";r=99;t=14400';
/** The same after the request's daily slot was returned. */
const RETURNED = '"burst";r=0;t=1, "day";r=100;t=14400';

/** The permission is checked before the limits: the second request is refused for the same reason. */
const FORBIDDEN: Answers = [`403 insufficient_scope ${TAKEN} 1000 - -`, `403 insufficient_scope ${TAKEN} 1000 - -`];
const NOT_FOUND: Answers = [`404 not_found ${TAKEN} 1000 - -`, `429 rate_limited ${TAKEN} 1000 1 -`];
const INVALID: Answers = [`400 invalid_request ${TAKEN} 1000 - -`, `429 rate_limited ${TAKEN} 1000 1 -`];
/** The failed request returns its daily slot. */
const UPSTREAM_FAILED: Answers = [`503 upstream_error ${RETURNED} 1000 5 -`, `429 rate_limited ${RETURNED} 1000 1 -`];
/** Not below /v1: no key is looked up. */
const OUTSIDE: Answers = ['404 not_found - - - -', '404 not_found - - - -'];
const OK: Answers = [`200 - ${TAKEN} 1000 - -`, `429 rate_limited ${TAKEN} 1000 1 -`];
const HEAD_FORBIDDEN: Answers = [`403 - ${TAKEN} 1000 - -`, `403 - ${TAKEN} 1000 - -`];
/** HEAD would be charged. */
const HEAD_REFUSED: Answers = [`405 - ${TAKEN} 1000 - GET`, `429 - ${TAKEN} 1000 1 -`];
const HEAD_NOT_FOUND: Answers = [`404 - ${TAKEN} 1000 - -`, `429 - ${TAKEN} 1000 1 -`];
const HEAD_OK: Answers = [`200 - ${TAKEN} 1000 - -`, `429 - ${TAKEN} 1000 1 -`];
const READS_ONLY: Answers = [`405 method_not_allowed ${TAKEN} 1000 - GET`, `429 rate_limited ${TAKEN} 1000 1 -`];
const READS_AND_CREATES: Answers = [
  `405 method_not_allowed ${TAKEN} 1000 - POST, GET, HEAD`,
  `429 rate_limited ${TAKEN} 1000 1 -`,
];

export const PERMISSION_CASES: readonly PermissionCase[] = [
  ['GET', '/v1/forum', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/forum/post', FORBIDDEN, INVALID],
  ['GET', '/v1/forum//post', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/FORUM/post', FORBIDDEN, INVALID],
  ['GET', '/v1/forum/subreddit?sub=coffee', FORBIDDEN, UPSTREAM_FAILED],
  ['GET', '/v1/forum/%70ost', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/forum/%ZZ', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/forum/%2e%2e/monitors', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/forum/../monitors', FORBIDDEN, NOT_FOUND],
  ['GET', 'http://localhost/v1/forum/post', FORBIDDEN, INVALID],
  ['GET', '/v1/forum;x=1', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1/forum%2Fpost', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1/%66orum/post', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1//forum/post', NOT_FOUND, NOT_FOUND],
  ['GET', '//v1/forum/post', OUTSIDE, OUTSIDE],
  ['GET', '/%76%31/forum/post', OUTSIDE, OUTSIDE],
  ['GET', '/v1/./forum/post', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1/forum\\post', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1\\forum/post', OUTSIDE, OUTSIDE],
  ['GET', '/v1/forum%00', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1/%ZZ/forum', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1', NOT_FOUND, NOT_FOUND],
  ['GET', '/v1/monitors', FORBIDDEN, OK],
  ['GET', '/v1/monitors/%ZZ', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/monitors/mon_x/matches', FORBIDDEN, NOT_FOUND],
  ['GET', '/v1/account', FORBIDDEN, OK],
  ['GET', '/v1/coverage', OK, OK],
  ['GET', '/v1/coverage?from=x', INVALID, INVALID],
  ['GET', '/v1/Account/Keys/', FORBIDDEN, OK],
  ['HEAD', '/v1/forum/post', HEAD_FORBIDDEN, HEAD_REFUSED],
  ['HEAD', '/v1/forum/nothing', HEAD_FORBIDDEN, HEAD_NOT_FOUND],
  ['HEAD', '/v1/monitors', HEAD_FORBIDDEN, HEAD_OK],
  ['HEAD', '/v1/nothing', HEAD_NOT_FOUND, HEAD_NOT_FOUND],
  ['POST', '/v1/forum/post', FORBIDDEN, READS_ONLY],
  ['POST', '/v1/monitors', FORBIDDEN, INVALID],
  ['PUT', '/v1/monitors', FORBIDDEN, READS_AND_CREATES],
  ['PROPFIND', '/v1/forum/post', FORBIDDEN, READS_ONLY],
];
