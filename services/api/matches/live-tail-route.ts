import { liveTailQuery } from '../../../schemas/api/matches.ts';
import { monitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { readLastSeq } from '../../../shared/matches/live-tails.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { parseMatchId } from '../../../shared/rules/identifiers.ts';
import { invalidRequest, noSuchMonitor, parseRequest } from '../http/api-error.ts';
import { SSE_HEADERS, StreamedBody } from '../http/response-stream.ts';
import { route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { findMonitor, MONITOR_ID } from '../monitors/find-monitor.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { matchEvent, STREAM_BEGIN } from './live-tails.ts';
import type { LiveTails, TailRequest } from './live-tails.ts';

const MATCH = exampleOf(monitorMatch);

/** The match that a client named as the last it received. */
interface Cursor {
  field: 'Last-Event-ID' | 'after';
  seq: number;
}

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The id of the last match you received. Clients send it automatically when they reconnect. Same as `after`.',
  schema: { type: 'string' },
  example: MATCH.id,
} as const;

/** GET /v1/monitors/{id}/stream: sends a monitor's matches as server-sent events as they are recorded. */
export function liveTailRoute(pool: Queryable, liveTails: LiveTails): Route {
  return route({
    method: 'get',
    path: '/v1/monitors/:id/stream',
    scope: 'monitors:read',
    operationId: 'streamMatches',
    tag: 'Monitors',
    summary: 'Stream matches as they are recorded',
    description:
      'Server-sent events: each match once and in order, as `event: match` with its id as `id` and a `MonitorMatch` as `data`. A stream that starts after a given match first sends everything recorded since, as far back as matches are kept, so a client that reconnects misses nothing. Comments keep the stream open while nothing matches. `event: end` tells the client not to reconnect; its `reason` is `monitor_deleted`, `key_revoked`, `account_frozen` or `account_deleted`. Free; opening a stream counts as one request. An account can have ten open streams; further ones are `rate_limited`. A client that reads nothing for a minute is disconnected.',
    params: { id: MONITOR_ID },
    query: liveTailQuery,
    example: { after: MATCH.id },
    headers: [LAST_EVENT_ID],
    responses: [
      {
        status: 200,
        description: 'The stream is open.',
        content: [
          {
            type: 'text/event-stream',
            schema: { type: 'string' },
            examples: { match: STREAM_BEGIN + matchEvent(MATCH) },
          },
        ],
      },
    ],
    handle: (request) => {
      const { keyId } = request.caller;
      if (keyId === undefined) throw new Error('a stream was requested without a key');
      return openLiveTail(request, { pool, liveTails, holder: { kind: 'key', id: keyId }, eventOf: matchEvent });
    },
  });
}

/** Who asks for a stream, and what is sent of a match. */
interface LiveTailOptions extends Pick<TailRequest, 'holder' | 'eventOf'> {
  pool: Queryable;
  liveTails: LiveTails;
}

/**
 * The response of a request for a monitor's stream.
 *
 * @throws ApiError not_found, invalid_request
 */
export async function openLiveTail(
  request: Pick<RouteRequest, 'caller' | 'id' | 'query' | 'lastEventId'>,
  { pool, liveTails, holder, eventOf }: LiveTailOptions,
): Promise<RouteResponse & { headers: Record<string, string>; body: StreamedBody }> {
  const { caller, id } = request;
  const cursor = cursorOf(request);
  await findMonitor(pool, caller.accountId, id);
  const afterSeq = await startOf(pool, id, cursor);
  const tail = { accountId: caller.accountId, holder, monitorId: id, eventOf, afterSeq };
  return {
    status: 200,
    headers: SSE_HEADERS,
    body: new StreamedBody(() => liveTails.open(tail)),
  };
}

/** Last-Event-ID wins over the URL: a client that reconnects updates the header and leaves the URL unchanged. */
function cursorOf({ id, query, lastEventId }: Pick<RouteRequest, 'id' | 'query' | 'lastEventId'>): Cursor | undefined {
  const { after } = parseRequest(liveTailQuery, query, 'query');
  const field = lastEventId ? 'Last-Event-ID' : 'after';
  const given = lastEventId || after;
  if (given === undefined) return undefined;
  const named = parseMatchId(given);
  if (named === undefined) throw invalidRequest([{ field, message: 'must be the id of a match' }]);
  if (named.monitorId !== id) throw invalidRequest([{ field, message: 'must be the id of a match of this monitor' }]);
  return { field, seq: named.seq };
}

/**
 * The seq after which the stream starts. A match that was never recorded is refused, as the stream would stay silent
 * until its seq is reached.
 */
async function startOf(pool: Queryable, monitorId: string, cursor: Cursor | undefined): Promise<number> {
  const lastSeq = await readLastSeq(pool, monitorId);
  if (lastSeq === undefined) throw noSuchMonitor();
  if (cursor === undefined) return lastSeq;
  if (cursor.seq > lastSeq) {
    throw invalidRequest([{ field: cursor.field, message: 'must be the id of a match that was recorded' }]);
  }
  return cursor.seq;
}
