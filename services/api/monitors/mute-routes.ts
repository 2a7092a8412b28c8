import type { z } from 'zod';
import { createMuteBody, monitorMute, muteAnswer, muteDeleted, muteList } from '../../../schemas/api/monitors.ts';
import type { MonitorMute, MuteKind } from '../../../schemas/api/monitors.ts';
import { deleteMute, insertMute, listMutes } from '../../../shared/monitors/monitors.ts';
import type { StoredMute } from '../../../shared/monitors/monitors.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { forumHosts, muteValue } from '../../../shared/rules/forum-reference.ts';
import { isMuteId, newMuteId } from '../../../shared/rules/identifiers.ts';
import { ApiError, invalidRequest } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { muteLine, mutesText } from '../mcp/tool-text.ts';
import { CHANGES, READS } from '../mcp/tool.ts';
import { exampleOf } from '../openapi/json-schemas.ts';
import { findAndLockMonitor, findMonitor, MONITOR_ID } from './find-monitor.ts';
import type { MonitorDeps } from './find-monitor.ts';

type MuteDeps = Pick<MonitorDeps, 'pool' | 'siteUrl'>;

/** Of one monitor. */
const MAX_MUTES = 500;

const WANTED: Record<MuteKind, string> = {
  subreddit: 'must be the name of a community, with or without r/, or its URL',
  author: 'must be the name of an account, with or without u/, or its URL',
  thread: 'must be the id or the URL of a post',
};

/**
 * The mutes of a monitor. They are changed under its lock, and the recorder reads them under it: nothing muted is
 * recorded after the response.
 */
export function muteRoutes(deps: MuteDeps): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/monitors/:id/mutes',
      scope: 'monitors:read',
      operationId: 'listMutes',
      tag: 'Monitors',
      summary: 'List the mutes of a monitor',
      description: 'The communities, accounts and threads whose posts and comments the monitor does not record.',
      params: { id: MONITOR_ID },
      responses: [ok('All mutes.', muteList)],
      tool: {
        name: 'list_mutes',
        title: 'List the mutes of a monitor',
        description: 'The communities, accounts and threads whose posts and comments a monitor does not record. Free.',
        annotations: READS,
        toText: mutesText,
      },
      handle: (request) => list(deps, request),
    }),
    route({
      method: 'post',
      path: '/v1/monitors/:id/mutes',
      scope: 'monitors:write',
      operationId: 'addMute',
      tag: 'Monitors',
      summary: 'Mute a community, an account or a thread',
      description:
        'From this response on, the monitor records nothing from it: no match, no delivery, no count. Existing matches stay. Unlike a rule change, a mute also applies to items that are already being processed. At most 500 mutes per monitor. Repeating the request is safe. Free.',
      params: { id: MONITOR_ID },
      body: { schema: createMuteBody },
      responses: [
        { ...ok('The new mute.', muteAnswer), status: 201 },
        ok('It was already muted; this is the existing mute.', muteAnswer),
      ],
      tool: {
        name: 'add_mute',
        title: 'Mute a community, an account or a thread',
        description:
          'From now on, the monitor records nothing from it; existing matches stay. Takes effect immediately. Free.',
        annotations: { ...CHANGES, idempotentHint: true },
        toText: ({ mute }: { mute: MonitorMute }) => `Muted: ${muteLine(mute)}`,
      },
      handle: (request) => add(deps, request),
    }),
    route({
      method: 'delete',
      path: '/v1/monitors/:id/mutes/:mute_id',
      scope: 'monitors:write',
      operationId: 'deleteMute',
      tag: 'Monitors',
      summary: 'Delete a mute',
      description:
        'The monitor records new items from it again. Items that were muted are not added later. If a response is lost and you repeat the request, a 404 means that the mute is already deleted.',
      params: {
        id: MONITOR_ID,
        mute_id: { description: 'The mute id, `mute_…`.', example: exampleOf(monitorMute.shape.id) },
      },
      responses: [ok('The mute is deleted.', muteDeleted)],
      tool: {
        name: 'remove_mute',
        title: 'Remove a mute',
        description: 'The monitor records new posts and comments from it again. Free.',
        annotations: { ...CHANGES, idempotentHint: false },
        toText: () => 'No longer muted.',
      },
      handle: (request) => remove(deps, request),
    }),
  ];
}

async function list({ pool }: MuteDeps, { caller, id }: RouteRequest): Promise<RouteResponse> {
  await findMonitor(pool, caller.accountId, id);
  return { status: 200, body: { items: (await listMutes(pool, id)).map(muteResource), limit: MAX_MUTES } };
}

async function add(
  { pool, siteUrl }: MuteDeps,
  { caller, id, body }: RouteRequest<unknown, z.output<typeof createMuteBody>>,
): Promise<RouteResponse> {
  const { kind } = body;
  const value = muteValue(kind, body.value, forumHosts(siteUrl));
  if (value === undefined) throw invalidRequest([{ field: 'value', message: WANTED[kind] }]);
  return inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    const mutes = await listMutes(client, id);
    const existing = mutes.find((mute) => mute.kind === kind && mute.value === value);
    if (existing !== undefined) return { status: 200, body: { mute: muteResource(existing) } };
    if (mutes.length >= MAX_MUTES) {
      const message = `the monitor already has ${MAX_MUTES} mutes, the maximum; delete one first`;
      throw invalidRequest([{ field: 'value', message }]);
    }
    const added = await insertMute(client, id, { id: newMuteId(), kind, value });
    return { status: 201, body: { mute: muteResource(added) } };
  });
}

async function remove({ pool }: MuteDeps, { caller, id, partId: muteId }: RouteRequest): Promise<RouteResponse> {
  return inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    const isDeleted = isMuteId(muteId) && (await deleteMute(client, id, muteId));
    if (!isDeleted) throw new ApiError('not_found', 'No such mute.');
    return { status: 200, body: { status: 'deleted' } };
  });
}

function muteResource({ id, kind, value, createdAt }: StoredMute): MonitorMute {
  return { id, kind, value, created_at: createdAt.toISOString() };
}
