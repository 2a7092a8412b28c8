import { backfillExamples as examples } from '../examples/backfill-examples.ts';
import { monitorExamples } from '../examples/monitor-examples.ts';
import type { RouteDocument } from '../route-document.ts';

const ID = { description: 'Id of a monitor.', example: monitorExamples.id };
const RUN_ID = { description: 'Id of a backfill.', example: examples.started.backfill.id };

/** The routes of /v1/monitors/{id}/backfill. */
export const backfillDocuments: readonly RouteDocument[] = [
  {
    method: 'get',
    path: '/v1/monitors/:id/backfill',
    operationId: 'listBackfills',
    tag: 'Monitors',
    id: ID,
    summary: 'Show the backfills of a monitor',
    description: 'The newest runs with their progress. Runs that ended are shown for 30 days. Free.',
    answers: [
      {
        status: 200,
        description: 'The runs.',
        content: [{ schema: 'BackfillList', examples: { runs: examples.list } }],
      },
    ],
    errors: ['not_found'],
  },
  {
    method: 'post',
    path: '/v1/monitors/:id/backfill',
    operationId: 'startBackfill',
    tag: 'Monitors',
    id: ID,
    isIdempotent: true,
    summary: 'Find earlier matches',
    description:
      'Posts and comments of the last 30 days that match the rule as it is now become matches of the monitor, also while it is paused. They are numbered after the existing ones, in the order in which they were first seen, and have `backfill: true`; what is a match already is passed over. Mutes apply. Nothing is sent unless `deliver` is true. Costs 1 credit for each started 100 matches, charged as they are recorded; a run ends after 50,000 matches. It runs by itself: a later change of the rule or a pause does not end it, only cancelling it or the deletion of the monitor. One run a monitor at a time, at most ten in 24 hours (`rate_limited`); runs of an account take turns.',
    body: { schema: 'StartBackfill', examples: { week: examples.week, delivered: examples.delivered } },
    answers: [
      {
        status: 202,
        description: 'The run waits for its turn. `GET` on the same path shows its progress.',
        content: [{ schema: 'BackfillAnswer', examples: { started: examples.started } }],
        headers: [{ name: 'X-Credits-Used' }, { name: 'Idempotency-Replayed', optional: true }],
      },
    ],
    errors: [
      'invalid_request',
      'payload_too_large',
      'unsupported_media_type',
      'insufficient_credits',
      'not_found',
      'backfill_running',
      'idempotency_conflict',
    ],
  },
  {
    method: 'delete',
    path: '/v1/monitors/:id/backfill/:run_id',
    operationId: 'cancelBackfill',
    tag: 'Monitors',
    id: ID,
    runId: RUN_ID,
    summary: 'Cancel a backfill',
    description:
      'Once this is answered, the run records and charges nothing more; what it recorded before stays. It is `cancelling` until it has ended, usually for less than a second, and `cancelled` then. A run that had ended before stays as it was. Repeating the request is harmless.',
    answers: [
      {
        status: 200,
        description: 'The run.',
        content: [{ schema: 'BackfillAnswer', examples: { cancelling: examples.cancelling } }],
      },
    ],
    errors: ['not_found'],
  },
];
