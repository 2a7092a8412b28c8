import { liveTailQuery } from '../../../schemas/api/live-tail.ts';
import { matchPageQuery } from '../../../schemas/api/match-page-query.ts';
import type { ErrorCode } from '../../../shared/domain/error-codes.ts';
import type { ComponentName } from './component-schemas.ts';
import { deliveryLogQuery } from '../../../schemas/api/delivery-log.ts';
import { deliveryExamples as deliveries } from './delivery-examples.ts';
import { monitorExamples as examples } from './monitor-examples.ts';
import type { AnswerDocument, RouteDocument } from './route-document.ts';

const LAST_EVENT_ID = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The id of the last match that you have; clients that connect again send it by themselves. As `after`.',
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

/** A route of one monitor has its id in the path, and is 404 where there is none. */
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
      'Creates a running monitor and charges 10 credits for its first 24 hours. It watches what is posted after the answer.',
    body: {
      schema: 'CreateMonitor',
      examples: { withWebhook: examples.createBody, shortest: examples.watchEverywhere },
    },
    answer: {
      status: 201,
      description: 'It runs. `webhook_secret` is shown this once.',
      content: [
        { schema: 'CreatedMonitor', examples: { created: examples.created, commonWord: examples.createdCommon } },
      ],
      headers: [...CHARGED],
    },
    errors: [...BODY_ERRORS, 'monitor_limit_reached', 'insufficient_credits', 'idempotency_conflict'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors',
    operationId: 'listMonitors',
    summary: 'All monitors',
    description: 'The monitors of the account that are not deleted, and what its plan allows.',
    answer: ok('The monitors.', 'MonitorList', 'monitors', examples.list),
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id',
    operationId: 'getMonitor',
    summary: 'A monitor and its figures',
    description: 'A monitor, and how much it matched lately.',
    answer: ok('The monitor.', 'MonitorWithStats', 'monitor', examples.withStats),
  }),
  ofMonitors({
    method: 'patch',
    path: '/v1/monitors/:id',
    operationId: 'updateMonitor',
    summary: 'Change a monitor',
    description:
      'Changes what is named and leaves the rest. New keywords count for what is posted after the answer. `webhook_url` null or empty removes the webhook; a new one clears `webhook_failing`.',
    body: {
      schema: 'PatchMonitor',
      examples: { newKeywords: examples.newKeywords, noWebhook: examples.noWebhook },
    },
    answer: ok('The monitor as it is now.', 'UpdatedMonitor', 'monitor', examples.monitor),
    errors: BODY_ERRORS,
  }),
  ofMonitors({
    method: 'delete',
    path: '/v1/monitors/:id',
    operationId: 'deleteMonitor',
    summary: 'Delete a monitor',
    description: 'For good. Charging stops at once; the day that was paid is not given back. Again is harmless.',
    answer: ok('It is deleted.', 'MonitorDeleted', 'deleted', { status: 'deleted' }),
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/pause',
    operationId: 'pauseMonitor',
    summary: 'Pause a monitor',
    description: 'Matching and charging stop at once; the day that was paid is not given back. Again is harmless.',
    answer: ok('It is paused.', 'MonitorPaused', 'paused', { status: 'paused' }),
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/resume',
    isIdempotent: true,
    operationId: 'resumeMonitor',
    summary: 'Resume a monitor',
    description: 'Charges 10 credits for the next 24 hours. A monitor that runs is left alone and costs nothing.',
    answer: { ...ok('It runs.', 'MonitorAnswer', 'monitor', examples.monitor), headers: [...CHARGED] },
    errors: ['invalid_request', 'insufficient_credits', 'idempotency_conflict'],
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/rotate-secret',
    operationId: 'rotateSecret',
    summary: 'Change the secret of a webhook',
    description:
      'The new secret, shown this once, signs from the next attempt on. For 24 hours `webhook-signature` also carries a signature by the one before.',
    answer: ok('It is changed.', 'RotatedSecret', 'rotated', { webhook_secret: examples.created.webhook_secret }),
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/test',
    operationId: 'testWebhook',
    summary: 'Send a sample match',
    description:
      'Sends a sample match to the webhook as a real one is sent, with the header `X-Service-Test: 1` and an id that begins with `test_`, and tells what the endpoint answered. A success clears `webhook_failing`; a failure counts nowhere. Five a minute and account.',
    answer: ok('What came of it.', 'TestDelivery', 'delivered', { delivered: true, status: 204, error: null }),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/deliveries',
    operationId: 'listDeliveries',
    summary: 'What was tried to deliver',
    description:
      'Every attempt of the last 30 days with its outcome: newest match first, and of each match the last attempt first.',
    query: deliveryLogQuery,
    example: { limit: 25 },
    answer: ok('A page of attempts.', 'DeliveryLogPage', 'log', deliveries.log),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'post',
    path: '/v1/monitors/:id/redeliver',
    operationId: 'redeliver',
    summary: 'Send matches again',
    description:
      'Queues matches whose delivery failed, was skipped or succeeded, ten a second, 5,000 a request at most. Matches that the daily cap held back are not sent. A failure of a resend does not count for `webhook_failing`. Again is harmless: what is queued stays queued once. An account may send as many matches again a UTC day as its plan lets its monitors match, and at least 1,000; then it is `rate_limited` until the day ends.',
    body: { schema: 'Redeliver', examples: { ofIds: deliveries.ofIds, failedSince: deliveries.failedSince } },
    answer: ok('They are queued.', 'Redelivery', 'queued', deliveries.queued),
    errors: BODY_ERRORS,
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/matches',
    operationId: 'listMatches',
    summary: 'Matches of a monitor',
    description:
      'Matches of the last 30 days. To follow a monitor, go on with `after` set to the id of the last match you have: none is missed and none comes twice.',
    query: matchPageQuery,
    example: { order: 'oldest', limit: 100 },
    answer: ok('A page of matches.', 'MatchPage', 'page', examples.page),
    errors: ['invalid_request'],
  }),
  ofMonitors({
    method: 'get',
    path: '/v1/monitors/:id/stream',
    operationId: 'streamMatches',
    summary: 'Matches as they are recorded',
    description:
      'Server-sent events: each match once and in order, as `event: match` with its id as `id` and a `MonitorMatch` as `data`. A stream that begins after a match sends what came since then first, as far back as matches are kept, so a client that connects again misses none. Comments keep it open while nothing matches. `event: end` says in `reason` why the stream must not be opened again: `monitor_deleted`, `key_revoked`, `account_frozen` or `account_deleted`. Free; opening one counts as one request. Ten streams an account may be open; more are `rate_limited`. A client that takes nothing for a minute is cut off.',
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
