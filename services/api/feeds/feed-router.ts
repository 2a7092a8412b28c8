import { createHash } from 'node:crypto';
import { Router } from 'express';
import type { RequestHandler } from 'express';
import { hashFeedToken, isFeedToken } from '../../../shared/domain/feed-token.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { takeUse } from '../../../shared/stores/accounts/sliding-log-limits.ts';
import { readFeedMatches } from '../../../shared/stores/feeds/feed-matches.ts';
import { findFeed } from '../../../shared/stores/feeds/feed-tokens.ts';
import { ApiError } from '../http/api-error.ts';
import { noteAccount } from '../http/request-log.ts';
import { refuseParameters } from '../http/invalid-request.ts';
import { methodNotAllowed } from '../http/route.ts';
import { atomFeed } from './atom-feed.ts';
import { feedContent } from './feed-content.ts';
import type { FeedContent } from './feed-content.ts';
import { jsonFeedOf } from './json-feed.ts';

interface FeedDeps {
  pool: Pool;
  /** Where clients reach the API, without a trailing slash. */
  baseUrl: string;
}

/** Of one monitor, in both formats, over all readers of its feed. */
const REQUESTS = { maxUses: 30, seconds: 60 };
const ENTRIES = { newest: 1_000, limit: 50, bodyLength: 4_000 };

const FORMATS = [
  { ending: 'atom', type: 'application/atom+xml; charset=utf-8', textOf: atomFeed },
  {
    ending: 'json',
    type: 'application/feed+json; charset=utf-8',
    textOf: (content: FeedContent, url: string) => JSON.stringify(jsonFeedOf(content, url)),
  },
] as const;

/**
 * GET /feeds/{token}.atom and .json: the newest matches of a monitor for feed readers, which send no key: the address
 * is the secret. It is answered 404 in the same way when it is malformed, unknown, replaced or revoked, and when its
 * monitor is deleted or its account is frozen.
 */
export function createFeedRouter(deps: FeedDeps): Router {
  const router = Router();
  for (const format of FORMATS) {
    const path = `/feeds/:token.${format.ending}`;
    router.get(path, refuseParameters, answerIn(format, deps));
    router.all(path, methodNotAllowed(['GET', 'HEAD']));
  }
  return router;
}

function answerIn({ ending, type, textOf }: (typeof FORMATS)[number], { pool, baseUrl }: FeedDeps): RequestHandler {
  return async (request, response) => {
    const { token } = request.params;
    if (typeof token !== 'string' || !isFeedToken(token)) throw noSuchFeed();
    const feed = await findFeed(pool, hashFeedToken(token));
    if (feed === undefined) throw noSuchFeed();
    noteAccount(response, feed.accountId);
    const retryAfter = await takeUse(pool, { name: `feed:${feed.monitorId}`, ...REQUESTS });
    if (retryAfter > 0) {
      throw new ApiError('rate_limited', `A feed can be read ${REQUESTS.maxUses} times a minute.`, { retryAfter });
    }
    const content = feedContent(feed, await readFeedMatches(pool, feed.monitorId, ENTRIES));
    const bytes = Buffer.from(textOf(content, `${baseUrl}/feeds/${token}.${ending}`));
    response.set({
      'Content-Type': type,
      'Cache-Control': 'private, max-age=60',
      // Weak, because compressed and plain answers have the same.
      ETag: `W/"${createHash('sha256').update(bytes).digest('base64url')}"`,
      'Last-Modified': content.updatedAt.toUTCString(),
      'X-Robots-Tag': 'noindex',
    });
    // Express answers 304 when the reader has this version.
    response.send(bytes);
  };
}

function noSuchFeed(): ApiError {
  return new ApiError('not_found', 'No such feed.');
}
