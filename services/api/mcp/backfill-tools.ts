import type { Backfill } from '../../../schemas/api/monitors/backfill.ts';
import { backfillAnswer, backfillList, startBackfillBody } from '../../../schemas/api/monitors/backfill.ts';
import type { Route } from '../http/route.ts';
import { inputSchemaOf, outputSchemaOf, routeTool } from './tool.ts';
import type { Tool } from './tool.ts';

/** @param routeAt returns the API's route with a method and a path */
export function backfillTools(routeAt: (method: Route['method'], path: string) => Route): Tool[] {
  const id = { type: 'string', description: 'Id of a monitor, `mon_…`.' };
  const body = inputSchemaOf(startBackfillBody);
  return [
    routeTool({
      name: 'start_backfill',
      title: 'Find earlier matches of a monitor',
      description:
        'Makes what matched in the last 30 days matches of the monitor, marked with `backfill`. Runs by itself; see get_backfill. Costs 1 credit for each started 100 matches: set `max_credits`. With `deliver` they are also sent to the webhook, which cannot be undone.',
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false, idempotentHint: false },
      inputSchema: {
        ...body,
        properties: { id, ...(body.properties as object) },
        required: ['id', 'from'],
      },
      outputSchema: outputSchemaOf(backfillAnswer),
      route: routeAt('post', '/v1/monitors/:id/backfill'),
      toText: ({ backfill }: { backfill: Backfill }) => lineOf(backfill),
    }),
    routeTool({
      name: 'get_backfill',
      title: 'Progress of the backfills of a monitor',
      description: 'The newest backfills of a monitor, with what they found and cost so far. Free.',
      annotations: { readOnlyHint: true, openWorldHint: false },
      inputSchema: { type: 'object', properties: { id }, required: ['id'], additionalProperties: false },
      outputSchema: outputSchemaOf(backfillList),
      route: routeAt('get', '/v1/monitors/:id/backfill'),
      toText: ({ items }: { items: Backfill[] }) =>
        items.length === 0 ? 'No backfill yet.' : items.map((run) => `- ${lineOf(run)}`).join('\n'),
    }),
    routeTool({
      name: 'cancel_backfill',
      title: 'Cancel a backfill of a monitor',
      description:
        'The run records and charges nothing more; what it recorded stays. Another run can find the rest later. Free.',
      annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: false, idempotentHint: true },
      inputSchema: {
        type: 'object',
        properties: { id, run_id: { type: 'string', description: 'Id of a backfill, `bf_…`.' } },
        required: ['id', 'run_id'],
        additionalProperties: false,
      },
      outputSchema: outputSchemaOf(backfillAnswer),
      route: routeAt('delete', '/v1/monitors/:id/backfill/:run_id'),
      toText: ({ backfill }: { backfill: Backfill }) => lineOf(backfill),
    }),
  ];
}

function lineOf({ id, state, from, to, share, matches, already_known: known, credits }: Backfill): string {
  const facts = [
    `${from} to ${to}`,
    `${Math.floor(share * 100)} %`,
    `${matches} matches`,
    `${known} already known`,
    `${credits} credits`,
  ];
  return `${state} (${id}): ${facts.join(' · ')}`;
}
