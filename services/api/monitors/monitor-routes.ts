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
        'Creates a running monitor and charges 10 credits for its first 24 hours. It watches everything posted after the response. `backfill_hours` also finds matches among everything seen before the response; what was posted more than 5 minutes before the response and is first seen after it is found only by a later backfill (`GET /v1/monitors/{id}/backfill` shows the progress). `warnings` points out where the rule may not do what you mean; a warning never causes a refusal.',
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
          description: 'The monitor is running. `webhook_secret` is shown only once.',
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
          'Watches every new post and comment for keywords (whole words and phrases) or `terms` with conditions; every group of `require` and all filters must match too. Read matches with get_monitor_matches; they are also sent to `webhook_url` if set. Costs 10 credits, and 10 for each further 24 hours that it runs; with `backfill_hours`, also 1 per 100 earlier matches, rounded up.',
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
      description: 'The monitors of the account, except deleted ones, and the limits of its plan.',
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
      summary: 'Parse a rule written as text',
      description:
        'Converts a rule written as text, such as `rust OR "memory safety" sub:-rustjerk`, to the fields of `POST /v1/monitors`. Nothing is stored. A text that is not a valid rule is refused: `position` says where, in UTF-16 code units, and the message shows the line with a caret under that place. Terms: `word`, `"some words"`, `word*` (prefix), `=Word` (case-sensitive), `title:word`. Join alternatives with `OR`, and groups that must all occur with `AND`: `rust AND (hiring OR job)`. Excluded terms: `-word`. For the whole rule: `in:title,body`, `sub:a,b`, `sub:-a`, `author:a`, `author:-a`, `lang:en,de`, `is:post`, `is:comment`, `nsfw:yes`, `once:thread`. Free.',
      body: { schema: parseQueryBody },
      responses: [ok('The settings, without those that have their default value.', parsedQuery)],
      handle: parse,
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id',
      scope: 'monitors:read',
      operationId: 'getMonitor',
      tag: 'Monitors',
      summary: 'Get a monitor with its statistics and delivery state',
      description:
        'A monitor, how much it matched recently (`stats`), and whether its matches currently reach the webhook (`delivery`). Watch `delivery.state`: when an endpoint goes down, it becomes `retrying` after the first failed attempt and `failing` 10 minutes later, long before `webhook_failing` is set. `POST …/redeliver` resends what failed.',
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
        'Changes the given fields and keeps the others. New keywords apply to everything posted after the response. `null` or an empty list removes a condition such as `terms` or `authors`; limits apply to the monitor as it is after the change. A null or empty `webhook_url` removes the webhook; a new one clears `webhook_failing`. `warnings` is about the rule after the change. A rule can change 1,000 times in 24 hours (`rate_limited`).',
      params: { id: MONITOR_ID },
      body: { schema: patchMonitorBody },
      responses: [ok('The updated monitor.', updatedMonitor)],
      tool: {
        name: 'update_monitor',
        title: 'Change a monitor',
        description:
          'Changes the given fields and keeps the others; `null` or an empty list removes a condition. A changed rule applies to everything posted after the response. Replaced values cannot be restored. Free.',
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
        'Permanent. Charging stops immediately; the current day is not refunded. Repeating the request is safe.',
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
        'Matching and charging stop immediately; the current day is not refunded. Repeating the request is safe.',
      params: { id: MONITOR_ID },
      responses: [ok('The monitor is paused.', monitorPaused)],
      tool: {
        name: 'pause_monitor',
        title: 'Pause a monitor',
        description: 'Stops a monitor immediately. Deliveries that are already queued are still sent. Free.',
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
        'Charges 10 credits for the next 24 hours. If the monitor is already running, nothing changes and nothing is charged.',
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
        'Matches of the last 30 days. To follow a monitor, continue with `after` set to the id of the last match you received: no match is skipped or repeated. With a filter (`since`, `until`, `keyword`, `subreddit`), a page reads at most 2,000 matches of that time range, so it may have few or no items and still have a cursor. Continue with the cursor while there is one; when there is none, continue from the last cursor or match you received. A cursor beyond the last match is refused.',
      params: { id: MONITOR_ID },
      query: matchPageQuery,
      example: { order: 'oldest', limit: 100 },
      responses: [ok('A page of matches.', matchPage)],
      tool: {
        name: 'get_monitor_matches',
        title: 'Matches of a monitor',
        description:
          'A page of the posts and comments that a monitor matched. With `order=oldest`, pass the `after` of a page to get the next one without missing any. Free.',
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
