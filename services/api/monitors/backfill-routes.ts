import type { z } from 'zod';
import { backfill, backfillAnswer, backfillList, startBackfillBody } from '../../../schemas/api/backfills.ts';
import type { Backfill } from '../../../schemas/api/backfills.ts';
import {
  ARCHIVE_DAYS,
  cancelBackfill,
  countRecentBackfills,
  insertBackfill,
  listBackfills,
} from '../../../shared/backfills/backfills.ts';
import type { StoredBackfill } from '../../../shared/backfills/backfills.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { ruleOf } from '../../../shared/monitors/monitors.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { isBackfillId, isMonitorId, newBackfillId } from '../../../shared/rules/identifiers.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { ApiError, noSuchMonitor, refuseFaults } from '../http/api-error.ts';
import { chargedRequest, ok, route } from '../http/route.ts';
import type { ChargingRequest, Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { backfillLine } from '../mcp/tool-text.ts';
import { CHANGES, READS } from '../mcp/tool.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { findAndLockMonitor, findMonitor, MONITOR_ID } from './find-monitor.ts';
import type { MonitorDeps } from './find-monitor.ts';

type BackfillRouteDeps = Pick<MonitorDeps, 'pool' | 'secretBox'>;

const SHOWN = 20;

/** The backfills of a monitor. The recorder works on them; here they are only asked for and shown. */
export function backfillRoutes(deps: BackfillRouteDeps): Route[] {
  const run = exampleOf(backfill);
  const started = { ...run, scanned_to: null, share: 0, matches: 0, already_known: 0, credits: 0 };
  return [
    route({
      method: 'post',
      path: '/v1/monitors/:id/backfill',
      scope: 'monitors:write',
      operationId: 'startBackfill',
      tag: 'Monitors',
      summary: 'Find earlier matches',
      description:
        'Adds the posts and comments of the last 30 days that match the current rule to the matches of the monitor, even while it is paused. They are numbered after the existing matches, in the order in which they were first seen, and have `backfill: true`. Items that are already matches are skipped. Mutes apply. Nothing is sent unless `deliver` is true. Costs 1 credit per 100 matches, rounded up, charged as they are recorded; a run ends early after 50,000 matches, or when `max_credits` or the balance is used up, it is cancelled or the monitor is deleted. It continues when the rule changes or the monitor is paused. One run per monitor at a time, at most ten in 24 hours (`rate_limited`); runs of an account take turns.',
      params: { id: MONITOR_ID },
      body: { schema: startBackfillBody },
      isIdempotent: true,
      responses: [
        {
          status: 202,
          description: 'The run is queued. `GET` on the same path shows its progress.',
          content: [{ schema: backfillAnswer, examples: { started: { backfill: started } } }],
          headers: [{ name: 'X-Credits-Used' }],
        },
      ],
      errors: ['insufficient_credits', 'backfill_running'],
      tool: {
        name: 'start_backfill',
        title: 'Find earlier matches of a monitor',
        description:
          'Adds what would have matched in the last 30 days to the matches of the monitor, marked with `backfill`. Runs in the background; check its progress with get_backfill. Costs 1 credit per 100 matches, rounded up: set `max_credits` as a limit. With `deliver`, they are also sent to the webhook, which cannot be undone.',
        annotations: { ...CHANGES, idempotentHint: false },
        toText: ({ backfill }: { backfill: Backfill }) => backfillLine(backfill),
      },
      handle: (request) => start(deps, request),
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id/backfill',
      scope: 'monitors:read',
      operationId: 'listBackfills',
      tag: 'Monitors',
      summary: 'List the backfills of a monitor',
      description: 'The newest runs with their progress. Finished runs are shown for 30 days. Free.',
      params: { id: MONITOR_ID },
      responses: [ok('The runs.', backfillList)],
      tool: {
        name: 'get_backfill',
        title: 'Show the backfills of a monitor',
        description: 'The newest backfills of a monitor, with what they found and cost so far. Free.',
        annotations: READS,
        toText: ({ items }: { items: Backfill[] }) =>
          items.length === 0 ? 'No backfill yet.' : items.map((run) => `- ${backfillLine(run)}`).join('\n'),
      },
      handle: (request) => list(deps, request),
    }),
    route({
      method: 'delete',
      path: '/v1/monitors/:id/backfill/:run_id',
      scope: 'monitors:write',
      operationId: 'cancelBackfill',
      tag: 'Monitors',
      summary: 'Cancel a backfill',
      description:
        'From this response on, the run records and charges nothing more; what it has recorded stays. Its state is `cancelling` until it has stopped, usually for less than a second, and then `cancelled`. A run that had already ended does not change. Repeating the request is safe.',
      params: {
        id: MONITOR_ID,
        run_id: { description: 'The backfill id, `bf_…`.', example: run.id },
      },
      responses: [ok('The run.', backfillAnswer, { cancelling: { backfill: { ...run, state: 'cancelling' } } })],
      tool: {
        name: 'cancel_backfill',
        title: 'Cancel a backfill of a monitor',
        description:
          'The run records and charges nothing more; what it has recorded stays. Another run can find the rest later. Free.',
        annotations: { ...CHANGES, destructiveHint: true, idempotentHint: true },
        toText: ({ backfill }: { backfill: Backfill }) => backfillLine(backfill),
      },
      handle: (request) => cancel(deps, request),
    }),
  ];
}

async function list({ pool }: BackfillRouteDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  await findMonitor(pool, caller.accountId, id);
  return { status: 200, body: { items: (await listBackfills(pool, id, SHOWN)).map(backfillResource) } };
}

/** Repeating it is harmless. Nothing is recorded or charged after the response. */
function cancel({ pool }: BackfillRouteDeps, { caller, id, partId: runId }: RouteRequest): Promise<RouteResponse> {
  return inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    const run = isBackfillId(runId) ? await cancelBackfill(client, id, runId) : undefined;
    if (run === undefined) throw new ApiError('not_found', 'No such backfill.');
    return { status: 200, body: { backfill: backfillResource(run) } };
  });
}

async function start(
  { pool, secretBox }: BackfillRouteDeps,
  request: RouteRequest<unknown, z.output<typeof startBackfillBody>>,
): Promise<RouteResponse> {
  const { id } = request;
  const wanted = wantedBackfill(request.body, Date.now());
  // Reject malformed ids before they enter the idempotency key.
  if (!isMonitorId(id)) throw noSuchMonitor();
  return runIdempotentRequest({
    pool,
    secretBox,
    request,
    prepare: () => Promise.resolve(),
    async work(client) {
      const run = await startBackfill(client, request, wanted);
      // Its matches are charged when they are recorded.
      const charged = { credits: 0, balance: request.caller.balance };
      return { status: 202, body: { backfill: backfillResource(run) }, charged };
    },
  });
}

/** Each run reads the archive, even when it finds nothing and costs nothing. */
const RUNS_PER_DAY = 10;
/** How far the clocks of clients may be ahead. */
const AHEAD_MS = 60_000;
const ARCHIVE_MS = ARCHIVE_DAYS * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** The checked settings of a run. */
interface WantedBackfill {
  /** ISO 8601. */
  from: string;
  /** undefined: now. */
  to: string | undefined;
  deliver: boolean;
  maxCredits: number | undefined;
}

/** @throws ApiError invalid_request */
function wantedBackfill(
  { from, to, deliver, max_credits }: z.output<typeof startBackfillBody>,
  nowMs: number,
): WantedBackfill {
  const [fromMs, toMs] = [Date.parse(from), to === undefined ? nowMs : Date.parse(to)];
  if (toMs > nowMs + AHEAD_MS) refuseFaults([{ field: 'to', message: 'must not be in the future' }]);
  if (toMs <= nowMs - ARCHIVE_MS) {
    refuseFaults([{ field: 'to', message: `must be within the last ${ARCHIVE_DAYS} days` }]);
  }
  if (fromMs >= Math.min(toMs, nowMs)) {
    refuseFaults([{ field: 'from', message: to === undefined ? 'must be in the past' : 'must be before to' }]);
  }
  return { from, to, deliver, maxCredits: max_credits };
}

/** The backfill that a new monitor asks for. */
export function wantedWithNewMonitor(hours: number | undefined, nowMs: number): WantedBackfill | undefined {
  if (hours === undefined) return undefined;
  const from = new Date(nowMs - hours * HOUR_MS).toISOString();
  return { from, to: undefined, deliver: false, maxCredits: undefined };
}

/**
 * Starts a run for a monitor of the account, in any state but deleted, in the transaction of `client`. It matches
 * the archive with the rule as it is now.
 *
 * @throws ApiError not_found, insufficient_credits, backfill_running, rate_limited
 */
async function startBackfill(
  client: Queryable,
  request: ChargingRequest & Pick<RouteRequest, 'id'>,
  wanted: WantedBackfill,
): Promise<StoredBackfill> {
  const monitor = await findAndLockMonitor(client, request.caller.accountId, request.id);
  if (request.caller.balance < 1) {
    throw new ApiError('insufficient_credits', 'A backfill costs at least 1 credit.');
  }
  const { isRunning, begun, secondsUntilFewer } = await countRecentBackfills(client, request.id);
  if (isRunning)
    throw new ApiError(
      'backfill_running',
      'A backfill of this monitor is already running. Wait for it to finish, or cancel it.',
    );
  if (begun >= RUNS_PER_DAY) {
    const message = `The monitor had ${begun} backfills in the last 24 hours, which is the limit. Try again later.`;
    throw new ApiError('rate_limited', message, { retryAfter: Math.max(1, secondsUntilFewer) });
  }
  const matching = { monitorId: monitor.id, version: monitor.version, rule: ruleOf(monitor) };
  return addBackfill(client, request, { ...wanted, ...matching });
}

/** Starts a run for a monitor whose lock the transaction of `client` holds. */
export function addBackfill(
  client: Queryable,
  request: ChargingRequest,
  wanted: WantedBackfill & { monitorId: string; version: number; rule: Rule },
): Promise<StoredBackfill> {
  return insertBackfill(client, {
    ...wanted,
    id: newBackfillId(),
    accountId: request.caller.accountId,
    request: chargedRequest(request),
  });
}

export function backfillResource(run: StoredBackfill): Backfill {
  const { id, from, to, deliver, scannedTo, matches, delivered, credits } = run;
  const length = to.getTime() - from.getTime();
  // A run up to now may look a moment further, where the clocks of several machines differ.
  const scanned =
    scannedTo === null ? undefined : Math.min(Math.max(scannedTo.getTime(), from.getTime()), to.getTime());
  const share = scanned === undefined ? 0 : length === 0 ? 1 : (scanned - from.getTime()) / length;
  return {
    id,
    state: run.state === 'running' && run.cancelledAt !== null ? 'cancelling' : run.state,
    from: from.toISOString(),
    to: to.toISOString(),
    deliver,
    max_credits: run.maxCredits,
    scanned_to: scanned === undefined ? null : new Date(scanned).toISOString(),
    share: Math.floor(share * 10_000) / 10_000,
    matches,
    delivered,
    already_known: run.alreadyKnown,
    credits,
    started_at: run.startedAt.toISOString(),
    ended_at: run.endedAt?.toISOString() ?? null,
  };
}
