import { isBackfillId, isMonitorId } from '../../../../shared/domain/identifiers.ts';
import { inTransaction } from '../../../../shared/postgres/pool.ts';
import { cancelBackfill, listBackfills } from '../../../../shared/stores/backfills/backfill-runs.ts';
import { runIdempotentRequest } from '../../admission/idempotent-request.ts';
import { ApiError, noSuchMonitor } from '../../http/api-error.ts';
import type { Answer, Call, Route } from '../../http/route.ts';
import { findAndLockMonitor, findMonitor } from '../find-monitor.ts';
import type { MonitorDeps } from '../monitor-deps.ts';
import { backfillResource } from './backfill-resource.ts';
import { startBackfill, wantedBackfill } from './start-backfill.ts';

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
