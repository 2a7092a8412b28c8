import { liveTailQuery } from '../../../../schemas/api/live-tail.ts';
import { matchPageQuery } from '../../../../schemas/api/match-page-query.ts';
import type { ErrorCode } from '../../../../shared/domain/error-codes.ts';
import type { ComponentName } from '../component-schemas.ts';
import { deliveryLogQuery } from '../../../../schemas/api/delivery-log.ts';
import { eventLogQuery } from '../../../../schemas/api/event-log.ts';
import { deliveryExamples as deliveries } from '../examples/delivery-examples.ts';
import { monitorExamples as examples } from '../examples/monitor-examples.ts';
import type { AnswerDocument, RouteDocument } from '../route-document.ts';

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The id of the last match you received; clients send it by themselves when they reconnect. Equivalent to `after`.',
  schema: { type: 'string' },
  example: examples.page.items[0]!.id,
} as const;

type MonitorDocument = Omit<RouteDocument, 'tag' | 'errors' | 'answers'> & {
  answer: AnswerDocument;
  errors?: readonly ErrorCode[];
};

const ID = { description: 'Id of a monitor.', example: examples.id };
const BODY_ERRORS = ['invalid_request', 'payload_too_large', 'unsupported_media_type'] as const;
const CHARGED = [{ name: 'X-Credits-Used' }, { name: 'Idempotency-Replayed', optional: true }] as const;

/** A route of one monitor has the monitor's id in its path and answers 404 for an unknown one. */
function ofMonitors({ answer, errors = [], ...route }: MonitorDocument): RouteDocument {
  const isOfOne = route.path.includes('/:id');
  return {
    ...route,
    ...(isOfOne ? { id: ID } : {}),
    tag: 'Monitors',
    answers: [answer],
    errors: [...errors, ...(isOfOne ? ['not_found' as const] : [])],
  };
}

function ok(description: string, schema: ComponentName, name: string, value: unknown): AnswerDocument {
  return { status: 200, description, content: [{ schema, examples: { [name]: value } }] };
}

/** All routes below /v1/monitors. */
export const monitorDocuments: readonly RouteDocument[] = [
  ofMonitors({
    method: 'post',
    path: '/v1/monitors',
    operationId: 'createMonitor',
    isIdempotent: true,
    summary: 'Create a monitor',
    description:
      'Creates a running monitor and charges 10 credits for its first 24 hours. It watches everything posted after the answer; `backfill_hours` also finds what matched before, without a gap between the two (`GET /v1/monitors/{id}/backfill` shows the progress). `warnings` points out what the rule may not mean; nothing is refused because of it.',
    body: {
      schema: 'CreateMonitor',
      examples: {
        withWebhook: examples.createBody,
        shortest: examples.watchEverywhere,
        withConditions: examples.conditionsBody,
      },
    },
    answer: {
      status: 201,
      description: 'The monitor is running. `webhook_secret` is shown only this once.',
      content: [
        {
          schema: 'CreatedMonitor',
          examples: {
            created: examples.created,
            withConditions: examples.createdWithConditions,
            withWarnings: examples.createdDoubtful,
          },
        },
      ],
      headers: [...CHARGED],
    },
    errors: [...BODY_ERRORS, 'monitor_limit_reached', 'insufficient_credits', 'idempotency_conflict'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors',
    operationId: 'listMonitors',
    summary: 'List monitors',
    description: 'The monitors of the account, without deleted ones, and what its plan allows.',
    answer: ok('The monitors.', 'MonitorList', 'monitors', examples.list),
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/parse',
    operationId: 'parseQuery',
    summary: 'Read a rule that is written as text',
    description:
      'For people who write a rule as text, such as `rust OR "memory safety" sub:-rustjerk`: returns the fields of `POST /v1/monitors` that it means. Nothing is stored. A text that has no such meaning is refused: `position` says where, in UTF-16 code units, and the message shows the line with a caret under the place. Terms: `word`, `"some words"`, `word*` (prefix), `=Word` (letters as written), `title:word`; join them with `OR`, and groups of which each must occur with `AND`: `rust AND (hiring OR job)`. Excluded: `-word`. For the whole rule: `in:title,body`, `sub:a,b`, `sub:-a`, `author:a`, `author:-a`, `lang:en,de`, `is:post`, `is:comment`, `nsfw:yes`, `once:thread`. Free.',
    body: { schema: 'ParseQuery', examples: { query: examples.query } },
    answer: ok(
      'The settings; those with their usual value are absent.',
      'ParsedQuery',
      'settings',
      examples.parsedQuery,
    ),
    errors: BODY_ERRORS,
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id',
    operationId: 'getMonitor',
    summary: 'Get a monitor with its statistics and the state of its deliveries',
    description:
      'A monitor, how much it matched recently (`stats`), and whether its matches reach the webhook now (`delivery`). Watch `delivery.state`: an endpoint that is down shows as `retrying` after its first failed attempt and as `failing` 10 minutes later, long before `webhook_failing` is set. `POST …/redeliver` brings back what failed.',
    answer: ok('The monitor.', 'MonitorWithStats', 'monitor', examples.withStats),
  }),
  ofMonitors({
    method: 'patch',
    path: '/v1/monitors/:id',
    operationId: 'updateMonitor',
    summary: 'Update a monitor',
    description:
      'Changes the given fields and keeps the others. New keywords apply to everything posted after the answer. `null` or an empty list removes a condition such as `terms` or `authors`; the limits hold for the monitor as it is after the change. A null or empty `webhook_url` removes the webhook; a new one clears `webhook_failing`. `warnings` is about the rule as it is after the change. A rule may change 1,000 times in 24 hours (`rate_limited`).',
    body: {
      schema: 'PatchMonitor',
      examples: {
        newKeywords: examples.newKeywords,
        newConditions: examples.newConditions,
        noWebhook: examples.noWebhook,
      },
    },
    answer: ok('The updated monitor.', 'UpdatedMonitor', 'monitor', examples.monitor),
    errors: BODY_ERRORS,
  }),
  ofMonitors({
    method: 'delete',
    path: '/v1/monitors/:id',
    operationId: 'deleteMonitor',
    summary: 'Delete a monitor',
    description:
      'Permanent. Charging stops at once; the day already paid for is not refunded. Repeating the request is harmless.',
    answer: ok('The monitor is deleted.', 'MonitorDeleted', 'deleted', { status: 'deleted' }),
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/pause',
    operationId: 'pauseMonitor',
    summary: 'Pause a monitor',
    description:
      'Matching and charging stop at once; the day already paid for is not refunded. Repeating the request is harmless.',
    answer: ok('The monitor is paused.', 'MonitorPaused', 'paused', { status: 'paused' }),
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/resume',
    isIdempotent: true,
    operationId: 'resumeMonitor',
    summary: 'Resume a monitor',
    description:
      'Charges 10 credits for the next 24 hours. A monitor that is already running stays unchanged and costs nothing.',
    answer: { ...ok('The monitor is running.', 'MonitorAnswer', 'monitor', examples.monitor), headers: [...CHARGED] },
    errors: ['invalid_request', 'insufficient_credits', 'idempotency_conflict'],
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/rotate-secret',
    isIdempotent: true,
    operationId: 'rotateSecret',
    summary: 'Rotate the secret of a webhook',
    description:
      'The new secret, shown only this once, signs every attempt from now on: it makes `X-Service-Signature`. For 24 hours `X-Service-Signature-Previous` has the same form and is made with the previous secret, and `webhook-signature` has a signature with each, so a receiver that checks both headers accepts every delivery while it knows either secret. Two secrets are valid at a time: give the receiver the new one before you rotate again.',
    answer: {
      ...ok('The secret is rotated.', 'RotatedSecret', 'rotated', {
        webhook_secret: examples.created.webhook_secret,
      }),
      headers: [{ name: 'Idempotency-Replayed', optional: true }],
    },
    errors: ['invalid_request', 'idempotency_conflict'],
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/test',
    operationId: 'testWebhook',
    summary: 'Send a sample match',
    description:
      'Sends a sample match to the webhook exactly like a real one, with the header `X-Service-Test: 1` and an id that begins with `test_`, and reports the answer of the endpoint. A success clears `webhook_failing`; a failure has no effect on it. At most five a minute per account.',
    answer: ok('The outcome of the test.', 'TestDelivery', 'delivered', { delivered: true, status: 204, error: null }),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/deliveries',
    operationId: 'listDeliveries',
    summary: 'List delivery attempts',
    description:
      'Every attempt of the last 30 days with its outcome: newest match first, and the last attempt of each match first. With `status` or `since`, a page reads at most 2,000 attempts, so it may be empty and still have an `after`: continue with it until it is null.',
    query: deliveryLogQuery,
    example: { limit: 25 },
    answer: ok('A page of attempts.', 'DeliveryLogPage', 'log', deliveries.log),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/events',
    operationId: 'listEvents',
    summary: 'List spikes and digests',
    description:
      'The `monitor.spike` and `monitor.digest` events of the last 30 days, newest first, with what they are about and what became of their delivery. A digest names its matches by a range: `GET /v1/monitors/{id}/matches` with its `after` begins with its first match. Digests by mail are not listed. Free.',
    query: eventLogQuery,
    example: { limit: 25 },
    answer: ok('A page of events.', 'EventLogPage', 'events', deliveries.events),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/redeliver',
    operationId: 'redeliver',
    summary: 'Resend matches',
    description:
      'Queues matches whose delivery failed, was skipped or succeeded: ten a second, at most 5,000 per request. With `status` `pending` matches that wait for a later attempt are sent now. They keep their attempts and remaining retries: if this attempt fails, the next retry follows. An answer of 0 says why in `reason`. Matches beyond the daily cap are not sent. A failed resend does not count for `webhook_failing`. Repeating the request is harmless: a queued match stays queued once. Per UTC day an account may resend as many matches as all its monitors together may send, but at least 1,000; beyond that the answer is `rate_limited` until the day ends.',
    body: { schema: 'Redeliver', examples: { ofIds: deliveries.ofIds, failedSince: deliveries.failedSince } },
    answer: ok('The matches are queued.', 'Redelivery', 'queued', deliveries.queued),
    errors: BODY_ERRORS,
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/matches',
    operationId: 'listMatches',
    summary: 'List matches of a monitor',
    description:
      'Matches of the last 30 days. To follow a monitor, continue with `after` set to the id of the last match you received: none is missed and none is sent twice. With a filter (`since`, `until`, `keyword`, `subreddit`) a page reads at most 2,000 matches of its time, so it may have few or no items and still a cursor: continue with the cursor while there is one, and from the last cursor or match you got when there is none. A cursor beyond the last match is refused.',
    query: matchPageQuery,
    example: { order: 'oldest', limit: 100 },
    answer: ok('A page of matches.', 'MatchPage', 'page', examples.page),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/stream',
    operationId: 'streamMatches',
    summary: 'Stream matches as they are recorded',
    description:
      'Server-sent events: each match once and in order, as `event: match` with its id as `id` and a `MonitorMatch` as `data`. A stream that starts after a match first sends everything recorded since then, as far back as matches are kept, so a client that reconnects misses nothing. Comments keep the stream open while nothing matches. `event: end` says in `reason` why the client must not reconnect: `monitor_deleted`, `key_revoked`, `account_frozen` or `account_deleted`. Free; opening a stream counts as one request. An account may have ten open streams; more are `rate_limited`. A client that reads nothing for a minute is disconnected.',
    query: liveTailQuery,
    example: { after: examples.page.items[0]!.id },
    headers: [LAST_EVENT_ID],
    answer: {
      status: 200,
      description: 'The stream is open.',
      content: [{ type: 'text/event-stream', schema: { type: 'string' }, examples: { match: examples.stream } }],
    },
    errors: ['invalid_request'],
  }),
];
