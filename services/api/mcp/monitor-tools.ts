import { matchPageQuery } from '../../../schemas/api/match-page-query.ts';
import { matchPage } from '../../../schemas/messages/monitor-match.ts';
import {
  createdMonitor,
  createMonitorBody,
  monitorAnswer,
  monitorList,
  monitorPaused,
  patchMonitorBody,
  updatedMonitor,
} from '../../../schemas/api/monitor.ts';
import { createMuteBody, muteAnswer, muteDeleted, muteList } from '../../../schemas/api/monitors/monitor-mutes.ts';
import type { Route } from '../http/route.ts';
import { createdText, matchesText, monitorsText, monitorText, pausedText, updatedText } from './monitor-texts.ts';
import { muteRemovedText, mutesText, muteText } from './mute-texts.ts';
import { inputOfQuery, inputSchemaOf, outputSchemaOf, routeTool } from './tool.ts';
import type { ObjectSchema, Tool } from './tool.ts';

const READS = { readOnlyHint: true, openWorldHint: false } as const;
const CHANGES = { readOnlyHint: false, destructiveHint: false, openWorldHint: false } as const;

const id = { type: 'string', description: 'Id of a monitor, `mon_…`.' };
const muteId = { type: 'string', description: 'Id of a mute, `mute_…`.' };
const BY_ID: ObjectSchema = { type: 'object', properties: { id }, required: ['id'], additionalProperties: false };

/** @param routeAt returns the API's route with a method and a path */
export function monitorTools(routeAt: (method: Route['method'], path: string) => Route): Tool[] {
  const page = inputOfQuery(matchPageQuery);
  const patch = inputSchemaOf(patchMonitorBody);
  return [
    routeTool({
      name: 'get_monitor_matches',
      title: 'Matches of a monitor',
      description:
        'A page of the posts and comments that a monitor matched. With `order=oldest`, pass the `after` of a page to get the next one: nothing is missed. Free.',
      annotations: READS,
      inputSchema: { ...page, properties: { id, ...(page.properties as object) }, required: ['id'] },
      outputSchema: outputSchemaOf(matchPage),
      route: routeAt('get', '/v1/monitors/:id/matches'),
      toText: matchesText,
    }),
    routeTool({
      name: 'list_monitors',
      title: 'List monitors',
      description: "The account's monitors, with how many the plan allows. Free.",
      annotations: READS,
      inputSchema: { type: 'object', properties: {}, additionalProperties: false },
      outputSchema: outputSchemaOf(monitorList),
      route: routeAt('get', '/v1/monitors'),
      toText: monitorsText,
    }),
    routeTool({
      name: 'create_monitor',
      title: 'Create a monitor',
      description:
        'Watches every new post and comment for keywords (whole words and phrases), or for `terms` with conditions, where every group of `require` and all filters fit. Read matches with get_monitor_matches; they are also sent to `webhook_url` if ' +
        'set. Costs 10 credits, and 10 for each further 24 hours that it runs; with `backfill_hours` also 1 for each started 100 earlier matches.',
      annotations: { ...CHANGES, idempotentHint: false },
      inputSchema: inputSchemaOf(createMonitorBody),
      outputSchema: outputSchemaOf(createdMonitor),
      route: routeAt('post', '/v1/monitors'),
      toText: createdText,
    }),
    routeTool({
      name: 'update_monitor',
      title: 'Change a monitor',
      description:
        'Changes the given fields and keeps the others; `null` or an empty list removes a condition. A changed rule applies to everything posted after the answer; what is replaced cannot be read again. Free.',
      annotations: { ...CHANGES, destructiveHint: true, idempotentHint: true },
      inputSchema: { ...patch, properties: { id, ...(patch.properties as object) }, required: ['id'] },
      outputSchema: outputSchemaOf(updatedMonitor),
      route: routeAt('patch', '/v1/monitors/:id'),
      toText: updatedText,
    }),
    routeTool({
      name: 'pause_monitor',
      title: 'Pause a monitor',
      description: 'Stops a monitor at once. Deliveries that are already queued are still sent. Free.',
      annotations: { ...CHANGES, idempotentHint: true },
      inputSchema: BY_ID,
      outputSchema: outputSchemaOf(monitorPaused),
      route: routeAt('post', '/v1/monitors/:id/pause'),
      toText: pausedText,
    }),
    routeTool({
      name: 'resume_monitor',
      title: 'Resume a monitor',
      description: 'Starts a paused monitor again. Costs 10 credits, or nothing when it is already running.',
      annotations: { ...CHANGES, idempotentHint: true },
      inputSchema: BY_ID,
      outputSchema: outputSchemaOf(monitorAnswer),
      route: routeAt('post', '/v1/monitors/:id/resume'),
      toText: monitorText,
    }),
    ...muteTools(routeAt),
  ];
}

function muteTools(routeAt: (method: Route['method'], path: string) => Route): Tool[] {
  const newMute = inputSchemaOf(createMuteBody);
  return [
    routeTool({
      name: 'list_mutes',
      title: 'List the mutes of a monitor',
      description: 'The communities, accounts and threads whose posts and comments a monitor does not record. Free.',
      annotations: READS,
      inputSchema: BY_ID,
      outputSchema: outputSchemaOf(muteList),
      route: routeAt('get', '/v1/monitors/:id/mutes'),
      toText: mutesText,
    }),
    routeTool({
      name: 'add_mute',
      title: 'Mute a community, an account or a thread',
      description: 'From now on the monitor records nothing of it; what is recorded stays. Takes effect at once. Free.',
      annotations: { ...CHANGES, idempotentHint: true },
      inputSchema: {
        ...newMute,
        properties: { id, ...(newMute.properties as object) },
        required: ['id', 'kind', 'value'],
      },
      outputSchema: outputSchemaOf(muteAnswer),
      route: routeAt('post', '/v1/monitors/:id/mutes'),
      toText: muteText,
    }),
    routeTool({
      name: 'remove_mute',
      title: 'Remove a mute',
      description: 'The monitor records again what is posted after this. Free.',
      annotations: { ...CHANGES, idempotentHint: false },
      inputSchema: { ...BY_ID, properties: { id, mute_id: muteId }, required: ['id', 'mute_id'] },
      outputSchema: outputSchemaOf(muteDeleted),
      route: routeAt('delete', '/v1/monitors/:id/mutes/:mute_id'),
      toText: muteRemovedText,
    }),
  ];
}
