import type { z } from 'zod';
import { matchPageQuery } from '../../../schemas/api/matches.ts';
import {
  createdMonitor,
  createMonitorBody,
  monitorAnswer,
  monitorDeleted,
  monitorList,
  monitorPaused,
  monitorWithStats,
  parsedQuery,
  parseQueryBody,
  patchMonitorBody,
  ruleWarning,
  updatedMonitor,
} from '../../../schemas/api/monitors.ts';
import type { Monitor, RuleWarning } from '../../../schemas/api/monitors.ts';
import { matchPage } from '../../../schemas/messages/monitor-match.ts';
import { MONITOR_PERIOD_CREDITS, planOf } from '../../../shared/billing/rules/plans.ts';
import { readDeliveryHealth } from '../../../shared/deliveries/delivery-health.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { listMonitors, readMonitorStats, ruleOf } from '../../../shared/monitors/monitors.ts';
import { isMonitorId } from '../../../shared/rules/identifiers.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { noSuchMonitor } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { matchPageRequest, readFilteredMatchPage, readMatchPage, refuseUnrecorded } from '../matches/match-page.ts';
import { createdText, matchesText, monitorLine, monitorsText, updatedText } from '../mcp/tool-text.ts';
import { CHANGES, READS } from '../mcp/tool.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import type { HeaderUse } from '../openapi/responses.ts';
import { addBackfill, backfillResource, backfillRoutes, wantedWithNewMonitor } from './backfill-routes.ts';
import {
  checkedSettings,
  createMonitor,
  deleteMonitor,
  FIRST_VERSION,
  pauseMonitor,
  resumeMonitor,
  updateMonitor,
} from './change-monitor.ts';
import { parse } from './check-settings.ts';
import {
  deliveryResource,
  findLastSeq,
  findMonitor,
  MONITOR_ID,
  monitorResource,
  monitorStatsResource,
} from './find-monitor.ts';
import type { MonitorDeps } from './find-monitor.ts';
import { muteRoutes } from './mute-routes.ts';
import { ruleWarnings, warningsMember } from './rule-warnings.ts';

const CHARGED: HeaderUse[] = [{ name: 'X-Credits-Used' }];

export function monitorRoutes(deps: MonitorDeps): Route[] {
  const on =
    <Query, Body>(handle: (deps: MonitorDeps, request: RouteRequest<Query, Body>) => Promise<RouteResponse>) =>
    (request: RouteRequest<Query, Body>) =>
      handle(deps, request);
  const created = exampleOf(createdMonitor);
  return [
    route({
      method: 'post',
      path: '/v1/monitors',
      scope: 'monitors:write',
      operationId: 'createMonitor',
      tag: 'Monitors',
      summary: 'Create a monitor',
      description:
        'Creates a running monitor and charges 10 credits for its first 24 hours. It watches everything posted after the answer; `backfill_hours` also finds what matched before, without a gap between the two (`GET /v1/monitors/{id}/backfill` shows the progress). `warnings` points out what the rule may not mean; nothing is refused because of it.',
      body: {
        schema: createMonitorBody,
        examples: {
          withWebhook: exampleOf(createMonitorBody),
          withConditions: {
            name: 'Coffee jobs',
            keywords: ['coffee'],
            terms: [{ text: 'EK43', case_sensitive: true }],
            require: [['hiring', 'job', { text: 'recruit', prefix: true }]],
            exclude_authors: ['AutoModerator'],
            languages: ['en', 'de'],
            thread_once: true,
          },
        },
      },
      isIdempotent: true,
      responses: [
        {
          status: 201,
          description: 'The monitor is running. `webhook_secret` is shown only this once.',
          content: [
            {
              schema: createdMonitor,
              examples: { created, withWarnings: { ...created, warnings: [exampleOf(ruleWarning)] } },
            },
          ],
          headers: CHARGED,
        },
      ],
      errors: ['monitor_limit_reached', 'insufficient_credits'],
      tool: {
        name: 'create_monitor',
        title: 'Create a monitor',
        description:
          'Watches every new post and comment for keywords (whole words and phrases), or for `terms` with conditions, where every group of `require` and all filters fit. Read matches with get_monitor_matches; they are also sent to `webhook_url` if ' +
          'set. Costs 10 credits, and 10 for each further 24 hours that it runs; with `backfill_hours` also 1 for each started 100 earlier matches.',
        annotations: { ...CHANGES, idempotentHint: false },
        toText: createdText,
      },
      handle: on(create),
    }),
    route({
      method: 'get',
      path: '/v1/monitors',
      scope: 'monitors:read',
      operationId: 'listMonitors',
      tag: 'Monitors',
      summary: 'List monitors',
      description: 'The monitors of the account, without deleted ones, and what its plan allows.',
      responses: [ok('The monitors.', monitorList)],
      tool: {
        name: 'list_monitors',
        title: 'List monitors',
        description: "The account's monitors, with how many the plan allows. Free.",
        annotations: READS,
        toText: monitorsText,
      },
      handle: on(list),
    }),
    // It changes nothing, but requires the permission of every POST below /v1/monitors. A key that cannot write
    // monitors has no use for the settings.
    route({
      method: 'post',
      path: '/v1/monitors/parse',
      scope: 'monitors:write',
      operationId: 'parseQuery',
      tag: 'Monitors',
      summary: 'Read a rule that is written as text',
      description:
        'For people who write a rule as text, such as `rust OR "memory safety" sub:-rustjerk`: returns the fields of `POST /v1/monitors` that it means. Nothing is stored. A text that has no such meaning is refused: `position` says where, in UTF-16 code units, and the message shows the line with a caret under the place. Terms: `word`, `"some words"`, `word*` (prefix), `=Word` (letters as written), `title:word`; join them with `OR`, and groups of which each must occur with `AND`: `rust AND (hiring OR job)`. Excluded: `-word`. For the whole rule: `in:title,body`, `sub:a,b`, `sub:-a`, `author:a`, `author:-a`, `lang:en,de`, `is:post`, `is:comment`, `nsfw:yes`, `once:thread`. Free.',
      body: { schema: parseQueryBody },
      responses: [ok('The settings; those with their usual value are absent.', parsedQuery)],
      handle: parse,
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id',
      scope: 'monitors:read',
      operationId: 'getMonitor',
      tag: 'Monitors',
      summary: 'Get a monitor with its statistics and the state of its deliveries',
      description:
        'A monitor, how much it matched recently (`stats`), and whether its matches reach the webhook now (`delivery`). Watch `delivery.state`: an endpoint that is down shows as `retrying` after its first failed attempt and as `failing` 10 minutes later, long before `webhook_failing` is set. `POST …/redeliver` brings back what failed.',
      params: { id: MONITOR_ID },
      responses: [ok('The monitor.', monitorWithStats)],
      handle: on(show),
    }),
    route({
      method: 'patch',
      path: '/v1/monitors/:id',
      scope: 'monitors:write',
      operationId: 'updateMonitor',
      tag: 'Monitors',
      summary: 'Update a monitor',
      description:
        'Changes the given fields and keeps the others. New keywords apply to everything posted after the answer. `null` or an empty list removes a condition such as `terms` or `authors`; the limits hold for the monitor as it is after the change. A null or empty `webhook_url` removes the webhook; a new one clears `webhook_failing`. `warnings` is about the rule as it is after the change. A rule may change 1,000 times in 24 hours (`rate_limited`).',
      params: { id: MONITOR_ID },
      body: { schema: patchMonitorBody },
      responses: [ok('The updated monitor.', updatedMonitor)],
      tool: {
        name: 'update_monitor',
        title: 'Change a monitor',
        description:
          'Changes the given fields and keeps the others; `null` or an empty list removes a condition. A changed rule applies to everything posted after the answer; what is replaced cannot be read again. Free.',
        annotations: { ...CHANGES, destructiveHint: true, idempotentHint: true },
        toText: updatedText,
      },
      handle: on(update),
    }),
    route({
      method: 'delete',
      path: '/v1/monitors/:id',
      scope: 'monitors:write',
      operationId: 'deleteMonitor',
      tag: 'Monitors',
      summary: 'Delete a monitor',
      description:
        'Permanent. Charging stops at once; the day already paid for is not refunded. Repeating the request is harmless.',
      params: { id: MONITOR_ID },
      responses: [ok('The monitor is deleted.', monitorDeleted)],
      handle: on(remove),
    }),
    route({
      method: 'post',
      path: '/v1/monitors/:id/pause',
      scope: 'monitors:write',
      operationId: 'pauseMonitor',
      tag: 'Monitors',
      summary: 'Pause a monitor',
      description:
        'Matching and charging stop at once; the day already paid for is not refunded. Repeating the request is harmless.',
      params: { id: MONITOR_ID },
      responses: [ok('The monitor is paused.', monitorPaused)],
      tool: {
        name: 'pause_monitor',
        title: 'Pause a monitor',
        description: 'Stops a monitor at once. Deliveries that are already queued are still sent. Free.',
        annotations: { ...CHANGES, idempotentHint: true },
        toText: () => 'Paused.',
      },
      handle: on(pause),
    }),
    route({
      method: 'post',
      path: '/v1/monitors/:id/resume',
      scope: 'monitors:write',
      operationId: 'resumeMonitor',
      tag: 'Monitors',
      summary: 'Resume a monitor',
      description:
        'Charges 10 credits for the next 24 hours. A monitor that is already running stays unchanged and costs nothing.',
      params: { id: MONITOR_ID },
      isIdempotent: true,
      responses: [{ ...ok('The monitor is running.', monitorAnswer), headers: CHARGED }],
      errors: ['insufficient_credits'],
      tool: {
        name: 'resume_monitor',
        title: 'Resume a monitor',
        description: 'Starts a paused monitor again. Costs 10 credits, or nothing when it is already running.',
        annotations: { ...CHANGES, idempotentHint: true },
        toText: ({ monitor }: { monitor: Monitor }) => monitorLine(monitor),
      },
      handle: on(resume),
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id/matches',
      scope: 'monitors:read',
      operationId: 'listMatches',
      tag: 'Monitors',
      summary: 'List matches of a monitor',
      description:
        'Matches of the last 30 days. To follow a monitor, continue with `after` set to the id of the last match you received: none is missed and none is sent twice. With a filter (`since`, `until`, `keyword`, `subreddit`) a page reads at most 2,000 matches of its time, so it may have few or no items and still a cursor: continue with the cursor while there is one, and from the last cursor or match you got when there is none. A cursor beyond the last match is refused.',
      params: { id: MONITOR_ID },
      query: matchPageQuery,
      example: { order: 'oldest', limit: 100 },
      responses: [ok('A page of matches.', matchPage)],
      tool: {
        name: 'get_monitor_matches',
        title: 'Matches of a monitor',
        description:
          'A page of the posts and comments that a monitor matched. With `order=oldest`, pass the `after` of a page to get the next one: nothing is missed. Free.',
        annotations: READS,
        toText: matchesText,
      },
      handle: on(matches),
    }),
    ...muteRoutes(deps),
    ...backfillRoutes(deps),
  ];
}

type NewMonitor = z.output<typeof createMonitorBody>;

function create(deps: MonitorDeps, request: RouteRequest<unknown, NewMonitor>): Promise<RouteResponse> {
  const { pool, secretBox } = deps;
  return runIdempotentRequest({
    pool,
    secretBox,
    request,
    async prepare() {
      const settings = await checkedSettings(deps, request.caller, request.body);
      const wanted = wantedWithNewMonitor(request.body.backfill_hours, Date.now());
      return { settings, wanted, warnings: await warningsOf(deps, ruleOf(settings)) };
    },
    async work(client, { settings, wanted, warnings }) {
      const created = await createMonitor(client, secretBox, request, settings);
      const matching = { monitorId: created.monitor.id, version: FIRST_VERSION, rule: ruleOf(settings) };
      const run = wanted && (await addBackfill(client, request, { ...wanted, ...matching }));
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

async function list({ pool }: MonitorDeps, { caller }: RouteRequest): Promise<RouteResponse> {
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

async function show({ pool }: MonitorDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  const stored = await findMonitor(pool, caller.accountId, id);
  const monitor = monitorResource(stored);
  const [counts, health] = await Promise.all([readMonitorStats(pool, id), readDeliveryHealth(pool, id)]);
  return {
    status: 200,
    body: { monitor, stats: monitorStatsResource(counts, monitor), delivery: deliveryResource(health, stored) },
  };
}

async function update(
  deps: MonitorDeps,
  { caller, id, body }: RouteRequest<unknown, z.output<typeof patchMonitorBody>>,
): Promise<RouteResponse> {
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

async function remove({ pool }: MonitorDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  await deleteMonitor(pool, caller.accountId, id);
  return { status: 200, body: { status: 'deleted' } };
}

async function pause({ pool }: MonitorDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  await pauseMonitor(pool, caller.accountId, id);
  return { status: 200, body: { status: 'paused' } };
}

function resume({ pool, secretBox }: MonitorDeps, request: RouteRequest): Promise<RouteResponse> {
  const { caller, id } = request;
  // Reject malformed ids before they enter the idempotency key.
  if (!isMonitorId(id)) return Promise.reject(noSuchMonitor());
  return runIdempotentRequest({
    pool,
    secretBox,
    request,
    prepare: () => Promise.resolve(),
    async work(client) {
      const { monitor, balance } = await resumeMonitor(client, request, id);
      const charged =
        balance === undefined ? { credits: 0, balance: caller.balance } : { credits: MONITOR_PERIOD_CREDITS, balance };
      return { status: 200, body: { monitor }, charged };
    },
  });
}

async function matches(
  { pool }: MonitorDeps,
  { caller, id, query }: RouteRequest<z.output<typeof matchPageQuery>>,
): Promise<RouteResponse> {
  const request = matchPageRequest(id, query);
  // Both run at once; the page is discarded when the monitor belongs to another account.
  const read = request.filter === undefined ? readMatchPage : readFilteredMatchPage;
  const [page, lastSeq] = await Promise.all([read(pool, request), findLastSeq(pool, caller.accountId, id)]);
  refuseUnrecorded(request, lastSeq);
  // 200 of the longest items are 30 MB.
  return { status: 200, body: page, largeList: 'items' };
}
