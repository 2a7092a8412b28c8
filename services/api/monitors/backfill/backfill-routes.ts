import { backfillHours, startBackfillBody } from '../../../../schemas/api/monitors/backfill.ts';
import type { Backfill } from '../../../../schemas/api/monitors/backfill.ts';
import { isBackfillId, isMonitorId, newBackfillId } from '../../../../shared/domain/identifiers.ts';
import type { Rule } from '../../../../shared/matching/rule.ts';
import { inTransaction } from '../../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../../shared/postgres/pool.ts';
import {
  cancelBackfill,
  listBackfills,
  ARCHIVE_DAYS,
  countRecentBackfills,
  insertBackfill,
} from '../../../../shared/stores/backfills/backfill-runs.ts';
import type { StoredBackfill } from '../../../../shared/stores/backfills/backfill-runs.ts';
import { ruleOf } from '../../../../shared/stores/monitors/monitors.ts';
import { runIdempotentRequest } from '../../admission/idempotent-request.ts';
import { ApiError, noSuchMonitor } from '../../http/api-error.ts';
import { chargedRequest } from '../../http/route.ts';
import { parseRequest, refuseFaults } from '../../http/invalid-request.ts';
import type { Answer, Call, Route } from '../../http/route.ts';
import { findAndLockMonitor, findMonitor } from '../find-monitor.ts';
import type { MonitorDeps } from '../find-monitor.ts';

type BackfillRouteDeps = Pick<MonitorDeps, 'pool' | 'secretBox'>;

const SHOWN = 20;

/** The backfills of a monitor. The recorder works on them; here they are only asked for and shown. */
export function backfillRoutes(deps: BackfillRouteDeps): Route[] {
  const path = '/v1/monitors/:id/backfill';
  return [
    { method: 'get', path, scope: 'monitors:read', handle: (call) => list(deps, call) },
    { method: 'post', path, scope: 'monitors:write', readsBody: true, handle: (call) => start(deps, call) },
    { method: 'delete', path: `${path}/:run_id`, scope: 'monitors:write', handle: (call) => cancel(deps, call) },
  ];
}

async function list({ pool }: BackfillRouteDeps, { caller, id }: Call): Promise<Answer> {
  await findMonitor(pool, caller.accountId, id);
  return { status: 200, body: { items: (await listBackfills(pool, id, SHOWN)).map(backfillResource) } };
}

/** Repeating it is harmless. Nothing is recorded or charged after the answer. */
function cancel({ pool }: BackfillRouteDeps, { caller, id, partId: runId }: Call): Promise<Answer> {
  return inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    const run = isBackfillId(runId) ? await cancelBackfill(client, id, runId) : undefined;
    if (run === undefined) throw new ApiError('not_found', 'No such backfill.');
    return { status: 200, body: { backfill: backfillResource(run) } };
  });
}

async function start({ pool, secretBox }: BackfillRouteDeps, call: Call): Promise<Answer> {
  const { id } = call;
  const wanted = wantedBackfill(call.body, Date.now());
  // Reject malformed ids before they enter the idempotency key.
  if (!isMonitorId(id)) throw noSuchMonitor();
  return runIdempotentRequest({
    pool,
    secretBox,
    call,
    route: `POST /v1/monitors/${id}/backfill`,
    prepare: () => Promise.resolve(),
    async work(client) {
      const run = await startBackfill(client, call, wanted);
      // Its matches are charged when they are recorded.
      const charged = { credits: 0, balance: call.caller.balance };
      return { status: 202, body: { backfill: backfillResource(run) }, charged };
    },
  });
}

/** Each run reads the archive, even when it finds nothing and costs nothing. */
const RUNS_PER_DAY = 10;
/** Clocks of clients may be ahead by so much. */
const AHEAD_MS = 60_000;
const ARCHIVE_MS = ARCHIVE_DAYS * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** What a run is asked for, checked. */
interface WantedBackfill {
  /** ISO 8601. */
  from: string;
  /** undefined: now. */
  to: string | undefined;
  deliver: boolean;
  maxCredits: number | undefined;
}

/** @throws ApiError invalid_request */
function wantedBackfill(body: unknown, nowMs: number): WantedBackfill {
  const { from, to, deliver, max_credits } = parseRequest(startBackfillBody, body === undefined ? {} : body, 'body');
  const [fromMs, toMs] = [Date.parse(from), to === undefined ? nowMs : Date.parse(to)];
  if (toMs > nowMs + AHEAD_MS) refuseFaults([{ field: 'to', message: 'must not be in the future' }]);
  if (toMs <= nowMs - ARCHIVE_MS) {
    refuseFaults([{ field: 'to', message: `must be in the last ${ARCHIVE_DAYS} days, which the archive holds` }]);
  }
  if (fromMs >= Math.min(toMs, nowMs)) {
    refuseFaults([{ field: 'from', message: to === undefined ? 'must be in the past' : 'must be before to' }]);
  }
  return { from, to, deliver, maxCredits: max_credits };
}

/** The backfill that a valid body of POST /v1/monitors asks for. */
export function wantedWithNewMonitor(body: unknown, nowMs: number): WantedBackfill | undefined {
  const { backfill_hours: given } = body as { backfill_hours?: unknown };
  if (given === undefined) return undefined;
  const from = new Date(nowMs - backfillHours.parse(given) * HOUR_MS).toISOString();
  return { from, to: undefined, deliver: false, maxCredits: undefined };
}

/**
 * Starts a run for a monitor of the account, in any state but deleted, in the transaction of `client`. The rule as it
 * is now judges the archive.
 *
 * @throws ApiError not_found, insufficient_credits, backfill_running, rate_limited
 */
async function startBackfill(
  client: Queryable,
  call: Pick<Call, 'caller' | 'requestId' | 'id'>,
  wanted: WantedBackfill,
): Promise<StoredBackfill> {
  const monitor = await findAndLockMonitor(client, call.caller.accountId, call.id);
  if (call.caller.balance < 1) {
    throw new ApiError('insufficient_credits', 'A backfill costs 1 credit for each started 100 matches.');
  }
  const { isRunning, begun, secondsUntilFewer } = await countRecentBackfills(client, call.id);
  if (isRunning) throw new ApiError('backfill_running', 'A backfill of this monitor is running; wait for its end.');
  if (begun >= RUNS_PER_DAY) {
    const message = `The monitor had ${begun} backfills in the last 24 hours, the most it may have.`;
    throw new ApiError('rate_limited', message, { retryAfter: Math.max(1, secondsUntilFewer) });
  }
  const judge = { monitorId: monitor.id, version: monitor.version, rule: ruleOf(monitor) };
  return addBackfill(client, call, { ...wanted, ...judge, path: '/v1/monitors/:id/backfill' });
}

/** Starts a run for a monitor whose lock the transaction of `client` holds. */
export function addBackfill(
  client: Queryable,
  call: Pick<Call, 'caller' | 'requestId'>,
  { path, ...wanted }: WantedBackfill & { monitorId: string; version: number; rule: Rule; path: string },
): Promise<StoredBackfill> {
  return insertBackfill(client, {
    ...wanted,
    id: newBackfillId(),
    accountId: call.caller.accountId,
    request: chargedRequest(call, { method: 'post', path }),
  });
}

/** A run in the form the API returns. */
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
