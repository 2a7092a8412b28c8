import { matchPageQuery } from '../../../schemas/api/match-page-query.ts';
import type { RuleWarning } from '../../../schemas/api/monitor.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../shared/domain/accounts/credits.ts';
import { isMonitorId } from '../../../shared/domain/identifiers.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { readDeliveryHealth } from '../../../shared/stores/deliveries/delivery-health.ts';
import { readMonitorStats } from '../../../shared/stores/monitors/monitor-stats.ts';
import { listMonitors, ruleOf } from '../../../shared/stores/monitors/monitors.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { noSuchMonitor } from '../http/api-error.ts';
import { backfillResource, backfillRoutes, addBackfill, wantedWithNewMonitor } from './backfill/backfill-routes.ts';
import { checkedSettings, createMonitor, FIRST_VERSION } from './create-monitor.ts';
import { deliveryResource, monitorResource, monitorStatsResource } from './monitor-resource.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { readFilteredMatchPage, matchPageRequest, readMatchPage, refuseUnrecorded } from './match-page.ts';
import { findLastSeq, findMonitor } from './find-monitor.ts';
import type { MonitorDeps } from './find-monitor.ts';
import { muteRoutes } from './mute-routes.ts';
import { deleteMonitor, pauseMonitor, resumeMonitor } from './monitor-state.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { parseRoute } from './query/parse-query.ts';
import { ruleWarnings, warningsMember } from './rule-warnings.ts';
import { updateMonitor } from './update-monitor.ts';

export function monitorRoutes(deps: MonitorDeps): Route[] {
  const [read, write] = ['monitors:read', 'monitors:write'] as const;
  const on = (handle: (deps: MonitorDeps, call: Call) => Promise<Answer>) => (call: Call) => handle(deps, call);
  return [
    { method: 'post', path: '/v1/monitors', scope: write, readsBody: true, handle: on(create) },
    { method: 'get', path: '/v1/monitors', scope: read, handle: on(list) },
    // Before those with an id in its place.
    parseRoute,
    { method: 'get', path: '/v1/monitors/:id', scope: read, handle: on(show) },
    { method: 'patch', path: '/v1/monitors/:id', scope: write, readsBody: true, handle: on(update) },
    { method: 'delete', path: '/v1/monitors/:id', scope: write, handle: on(remove) },
    { method: 'post', path: '/v1/monitors/:id/pause', scope: write, handle: on(pause) },
    { method: 'post', path: '/v1/monitors/:id/resume', scope: write, handle: on(resume) },
    { method: 'get', path: '/v1/monitors/:id/matches', scope: read, readsQuery: true, handle: on(matches) },
    ...muteRoutes(deps),
    ...backfillRoutes(deps),
  ];
}

function create(deps: MonitorDeps, call: Call): Promise<Answer> {
  const { pool, secretBox } = deps;
  return runIdempotentRequest({
    pool,
    secretBox,
    call,
    route: 'POST /v1/monitors',
    async prepare() {
      const settings = await checkedSettings(deps, call.caller, call.body);
      const wanted = wantedWithNewMonitor(call.body, Date.now());
      return { settings, wanted, warnings: await warningsOf(deps, ruleOf(settings)) };
    },
    async work(client, { settings, wanted, warnings }) {
      const created = await createMonitor(client, secretBox, call, settings);
      const judge = { monitorId: created.monitor.id, version: FIRST_VERSION, rule: ruleOf(settings) };
      const run = wanted && (await addBackfill(client, call, { ...wanted, ...judge, path: '/v1/monitors' }));
      return {
        status: 201,
        body: {
          monitor: created.monitor,
          webhook_secret: created.webhookSecret,
          ...warningsMember(warnings),
          ...(run ? { backfill: backfillResource(run) } : {}),
        },
        charged: { credits: MONITOR_PERIOD_CREDITS, balance: created.balance },
      };
    },
  });
}

async function list({ pool }: MonitorDeps, { caller }: Call): Promise<Answer> {
  const stored = await listMonitors(pool, caller.accountId);
  const plan = planOf(caller.pack);
  const items = stored.map(monitorResource);
  return {
    status: 200,
    body: { items, limit: plan.monitors, used: items.length, daily_match_cap: plan.dailyMatchCap },
    // A hundred of the largest rules are 5 MB.
    largeList: 'items',
  };
}

async function show({ pool }: MonitorDeps, { caller, id }: Call): Promise<Answer> {
  const stored = await findMonitor(pool, caller.accountId, id);
  const monitor = monitorResource(stored);
  const [counts, health] = await Promise.all([readMonitorStats(pool, id), readDeliveryHealth(pool, id)]);
  return {
    status: 200,
    body: { monitor, stats: monitorStatsResource(counts, monitor), delivery: deliveryResource(health, stored) },
  };
}

async function update(deps: MonitorDeps, { caller, id, body }: Call): Promise<Answer> {
  const updated = await updateMonitor(deps, caller.accountId, id, body);
  const warnings = await warningsOf(deps, ruleOf(updated));
  return { status: 200, body: { monitor: monitorResource(updated), ...warningsMember(warnings) } };
}

/** Waits for the archive, so call it outside of transactions. */
async function warningsOf({ archiveSample, suppressedPerDay }: MonitorDeps, rule: Rule): Promise<RuleWarning[]> {
  // Only rules for the whole forum are compared with the archive.
  const sample = rule.subreddits.length > 0 ? [] : await archiveSample();
  return ruleWarnings(rule, { sample, suppressedPerDay });
}

async function remove({ pool }: MonitorDeps, { caller, id }: Call): Promise<Answer> {
  await deleteMonitor(pool, caller.accountId, id);
  return { status: 200, body: { status: 'deleted' } };
}

async function pause({ pool }: MonitorDeps, { caller, id }: Call): Promise<Answer> {
  await pauseMonitor(pool, caller.accountId, id);
  return { status: 200, body: { status: 'paused' } };
}

function resume({ pool, secretBox }: MonitorDeps, call: Call): Promise<Answer> {
  const { caller, id } = call;
  // Reject malformed ids before they enter the idempotency key.
  if (!isMonitorId(id)) return Promise.reject(noSuchMonitor());
  return runIdempotentRequest({
    pool,
    secretBox,
    call,
    route: `POST /v1/monitors/${id}/resume`,
    prepare: () => Promise.resolve(),
    async work(client) {
      const { monitor, balance } = await resumeMonitor(client, call, id);
      const charged =
        balance === undefined ? { credits: 0, balance: caller.balance } : { credits: MONITOR_PERIOD_CREDITS, balance };
      return { status: 200, body: { monitor }, charged };
    },
  });
}

async function matches({ pool }: MonitorDeps, { caller, id, query }: Call): Promise<Answer> {
  const request = matchPageRequest(id, parseRequest(matchPageQuery, query, 'query'));
  // Both run at once; the page is discarded when the monitor belongs to another account.
  const read = request.filter === undefined ? readMatchPage : readFilteredMatchPage;
  const [page, lastSeq] = await Promise.all([read(pool, request), findLastSeq(pool, caller.accountId, id)]);
  refuseUnrecorded(request, lastSeq);
  // 200 of the longest items are 30 MB.
  return { status: 200, body: page, largeList: 'items' };
}
