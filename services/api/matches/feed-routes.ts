import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import {
  FEED_TOKEN_EXAMPLE,
  feedAddresses,
  feedRevoked,
  jsonFeed as feedSchema,
} from '../../../schemas/api/matches.ts';
import type { FeedAddresses } from '../../../schemas/api/matches.ts';
import { monitorId as monitorIdSchema } from '../../../schemas/messages/monitor-match.ts';
import { hashFeedToken, isFeedToken, newFeedToken } from '../../../shared/accounts/rules/credentials.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { deleteFeedToken, findFeed, putFeedToken, readFeedMatches } from '../../../shared/matches/feed-tokens.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { ApiError } from '../http/api-error.ts';
import { noteAccount } from '../http/request-log.ts';
import { ok, route } from '../http/route.ts';
import type { Content, PublicRoute, Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { findAndLockMonitor, MONITOR_ID } from '../monitors/find-monitor.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { atomFeed, jsonFeed, lastChange } from './feed-formats.ts';

interface FeedDeps {
  pool: Pool;
  /** Where clients reach the API, without a trailing slash. */
  baseUrl: string;
}

/** Of one monitor, in both formats, over all readers of its feed. */
const REQUESTS = { maxUses: 30, seconds: 60 };
const ENTRIES = { newest: 1_000, limit: 50, bodyLength: 4_000 };

const TYPES = { atom: 'application/atom+xml; charset=utf-8', json: 'application/feed+json; charset=utf-8' } as const;

/**
 * The newest matches of a monitor for feed readers, which send no key: the address is the secret. It is answered 404 in
 * the same way when it is malformed, unknown, replaced or revoked, and when its monitor is deleted or its account is
 * frozen.
 */
export function feedRoutes(deps: FeedDeps): PublicRoute[] {
  const feed = { ...exampleOf(feedSchema), feed_url: exampleOf(feedAddresses).atom_url };
  const declared = (format: keyof typeof TYPES, name: string, content: Content): PublicRoute => ({
    method: 'get',
    path: `/feeds/:token.${format}`,
    operationId: `get${format === 'atom' ? 'Atom' : 'Json'}Feed`,
    tag: 'Monitors',
    params: { token: { description: 'The token in the feed URL.', example: FEED_TOKEN_EXAMPLE } },
    summary: `Read the feed of a monitor ${name}`,
    description:
      'The newest 50 of the last 1,000 matches, without suppressed ones. Texts are cut after 4,000 characters, and texts of removed items are omitted. Send `If-None-Match` with the `ETag` of the previous response. At most 30 requests a minute per monitor. Free; needs no key.',
    responses: [
      {
        status: 200,
        description: 'The feed.',
        content: [content],
        headers: [{ name: 'ETag' }, { name: 'Last-Modified' }],
      },
      {
        status: 304,
        description: 'The feed has not changed since the version in `If-None-Match`.',
        content: [],
        headers: [{ name: 'ETag' }, { name: 'Last-Modified' }],
      },
    ],
    errors: ['invalid_request', 'not_found', 'rate_limited', 'internal_error'],
    respond: answerIn(format, deps),
  });
  return [
    declared('atom', 'in Atom', {
      type: 'application/atom+xml',
      schema: { type: 'string' },
      examples: { feed: atomFeed(feed, exampleOf(monitorIdSchema), lastChange(feed, new Date(0))) },
    }),
    declared('json', 'as JSON Feed', { type: 'application/feed+json', schema: feedSchema }),
  ];
}

function answerIn(format: keyof typeof TYPES, { pool, baseUrl }: FeedDeps): RequestHandler {
  return async (request, response) => {
    const { token } = request.params;
    if (typeof token !== 'string' || !isFeedToken(token)) throw noSuchFeed();
    const found = await findFeed(pool, hashFeedToken(token));
    if (found === undefined) throw noSuchFeed();
    const { accountId, monitorId, changedAt } = found;
    noteAccount(response, accountId);
    const retryAfter = await takeUse(pool, { name: `feed:${monitorId}`, ...REQUESTS });
    if (retryAfter > 0) {
      throw new ApiError(
        'rate_limited',
        `Too many requests for this feed: the limit is ${REQUESTS.maxUses} per minute.`,
        { retryAfter },
      );
    }
    const url = `${baseUrl}/feeds/${token}.${format}`;
    const feed = jsonFeed(found, await readFeedMatches(pool, monitorId, ENTRIES), url);
    const updatedAt = lastChange(feed, changedAt);
    const bytes = Buffer.from(format === 'atom' ? atomFeed(feed, monitorId, updatedAt) : `${JSON.stringify(feed)}\n`);
    response.set({
      'Content-Type': TYPES[format],
      'Cache-Control': 'private, max-age=60',
      // Weak, because compressed and plain responses have the same.
      ETag: `W/"${createHash('sha256').update(bytes).digest('base64url')}"`,
      'Last-Modified': updatedAt.toUTCString(),
      'X-Robots-Tag': 'noindex',
    });
    // Express answers 304 when the reader has this version.
    response.send(bytes);
  };
}

function noSuchFeed(): ApiError {
  return new ApiError('not_found', 'No such feed.');
}

/**
 * The address of a monitor's feed, which works without a key. It is changed under the monitor's lock, so that a monitor
 * that is deleted has none.
 */
export function feedTokenRoutes(deps: FeedDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/monitors/:id/feed-token',
      scope: 'monitors:write',
      operationId: 'createFeed',
      tag: 'Monitors',
      summary: 'Create the feed URLs of a monitor',
      description:
        "URLs with the monitor's matches, for feed readers. Anyone who has a URL can read the newest matches of this one monitor without a key, so keep it private. The URLs are shown only once. Another request creates new URLs, and the old ones stop working. They work until they are replaced or revoked, or the monitor is deleted. Free.",
      params: { id: MONITOR_ID },
      responses: [
        {
          status: 201,
          description: 'The feed URLs.',
          content: [{ schema: feedAddresses }],
        },
      ],
      handle: (request) => replace(deps, request),
    }),
    route({
      method: 'delete',
      path: '/v1/monitors/:id/feed-token',
      scope: 'monitors:write',
      operationId: 'revokeFeed',
      tag: 'Monitors',
      summary: 'Revoke the feed URLs of a monitor',
      description: 'The URLs return 404 from now on. Repeating the request is safe.',
      params: { id: MONITOR_ID },
      responses: [ok('The monitor has no feed.', feedRevoked)],
      handle: (request) => revoke(deps, request),
    }),
  ];
}

async function replace({ pool, baseUrl }: FeedDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  const token = newFeedToken();
  await inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    await putFeedToken(client, id, hashFeedToken(token));
  });
  const body: FeedAddresses = {
    atom_url: `${baseUrl}/feeds/${token}.atom`,
    json_url: `${baseUrl}/feeds/${token}.json`,
  };
  // The addresses are shown only this once.
  return { status: 201, body, headers: { 'Cache-Control': 'no-store' } };
}

async function revoke({ pool }: FeedDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  await inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    await deleteFeedToken(client, id);
  });
  return { status: 200, body: { status: 'revoked' } };
}
