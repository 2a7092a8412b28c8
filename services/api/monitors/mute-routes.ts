import { createMuteBody } from '../../../schemas/api/monitors/monitor-mutes.ts';
import type { MonitorMute, MuteKind } from '../../../schemas/api/monitors/monitor-mutes.ts';
import { forumHosts, muteValue } from '../../../shared/domain/forum-reference.ts';
import { isMuteId, newMuteId } from '../../../shared/domain/identifiers.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { deleteMute, insertMute, listMutes } from '../../../shared/stores/monitors/monitor-mutes.ts';
import type { StoredMute } from '../../../shared/stores/monitors/monitor-mutes.ts';
import { ApiError } from '../http/api-error.ts';
import { invalidRequest, parseRequest } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { findAndLockMonitor, findMonitor } from './find-monitor.ts';
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
 * recorded after the answer.
 */
export function muteRoutes(deps: MuteDeps): Route[] {
  const [read, write] = ['monitors:read', 'monitors:write'] as const;
  const path = '/v1/monitors/:id/mutes';
  return [
    { method: 'get', path, scope: read, handle: (call) => list(deps, call) },
    { method: 'post', path, scope: write, readsBody: true, handle: (call) => add(deps, call) },
    { method: 'delete', path: `${path}/:mute_id`, scope: write, handle: (call) => remove(deps, call) },
  ];
}

async function list({ pool }: MuteDeps, { caller, id }: Call): Promise<Answer> {
  await findMonitor(pool, caller.accountId, id);
  return { status: 200, body: { items: (await listMutes(pool, id)).map(muteResource), limit: MAX_MUTES } };
}

async function add({ pool, siteUrl }: MuteDeps, { caller, id, body }: Call): Promise<Answer> {
  const given = parseRequest(createMuteBody, body === undefined ? {} : body, 'body');
  const { kind } = given;
  const value = muteValue(kind, given.value, forumHosts(siteUrl));
  if (value === undefined) throw invalidRequest([{ field: 'value', message: WANTED[kind] }]);
  return inTransaction(pool, async (client) => {
    await findAndLockMonitor(client, caller.accountId, id);
    const mutes = await listMutes(client, id);
    const existing = mutes.find((mute) => mute.kind === kind && mute.value === value);
    if (existing !== undefined) return { status: 200, body: { mute: muteResource(existing) } };
    if (mutes.length >= MAX_MUTES) {
      const message = `the monitor has ${MAX_MUTES} mutes already; delete one first`;
      throw invalidRequest([{ field: 'value', message }]);
    }
    const added = await insertMute(client, id, { id: newMuteId(), kind, value });
    return { status: 201, body: { mute: muteResource(added) } };
  });
}

async function remove({ pool }: MuteDeps, { caller, id, partId: muteId }: Call): Promise<Answer> {
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
