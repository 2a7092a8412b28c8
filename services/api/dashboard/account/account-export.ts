import type { Monitor } from '../../../../schemas/api/monitor.ts';
import { listSignInNetworks } from '../../../../shared/stores/accounts/accounts.ts';
import {
  isDashboardSessionValid,
  listDashboardSessions,
} from '../../../../shared/stores/dashboard/dashboard-sessions.ts';
import { NOTICE_KINDS } from '../../../../shared/domain/notice-kinds.ts';
import { readSwitchedOff } from '../../../../shared/stores/notices/notice-settings.ts';
import { listExportedPayments } from '../../../../shared/stores/payments/exported-payments.ts';
import type { AnswerStream } from '../../http/answer-stream.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ApiRequest } from '../call-api.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import type { Visit } from '../page-route.ts';

/** Of the format: other members and types of lines may be added to it. */
const VERSION = 1;
/** Matches and attempts per page: each page is one short statement. */
const PAGE = 100;
const MOST_PAYMENTS = 10_000;
/** Lines are sent together up to this many characters. */
const PIECE_LENGTH = 64 * 1024;
const STALL_MS = 60_000;

/** A line of the export: its type, and what the API shows of the resource. */
type Line = { type: string } & Record<string, unknown>;

interface Page {
  items: object[];
  after: string | null;
}

/**
 * All data of an account, as a stream of JSON lines: first `export`, then a line for each resource, last `end` with the
 * number of lines before it, without which the file is not complete. Resources have the shape that the API documents,
 * and no secrets. They are read page by page as the client takes them, each page in a statement of its own. When the
 * session ends meanwhile, so does the stream, without its last line.
 */
export function openAccountExport(deps: DashboardDeps, visit: Visit): AnswerStream {
  const ending = new AbortController();
  return {
    pieces: () => pieces(deps, visit, ending.signal),
    ended: ending.signal,
    end: () => {
      ending.abort();
    },
    close: () => Promise.resolve(),
    stallMs: STALL_MS,
  };
}

async function* pieces(deps: DashboardDeps, visit: Visit, ended: AbortSignal): AsyncGenerator<string> {
  let piece = '';
  let count = 0;
  for await (const line of lines(deps, visit)) {
    if (ended.aborted) return;
    count++;
    piece += `${JSON.stringify(line)}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
    if (!(await isDashboardSessionValid(deps.pool, visit.session.id)))
      throw new ApiError('unauthorized', 'Signed out.');
  }
  yield `${piece}${JSON.stringify({ type: 'end', lines: count })}\n`;
}

async function* lines(deps: DashboardDeps, visit: Visit): AsyncGenerator<Line> {
  const { pool, clock } = deps;
  const accountId = visit.account.id;
  const get = async (path: string, request?: ApiRequest) => (await deps.callApi(visit, 'get', path, request)).body;
  const itemsOf = async (path: string) => ((await get(path)) as { items: object[] }).items;
  yield { type: 'export', version: VERSION, exported_at: new Date(clock()).toISOString() };
  yield lineOf('account', await get('/v1/account'));
  const switchedOff = await readSwitchedOff(pool, accountId);
  for (const kind of NOTICE_KINDS) yield { type: 'notice', kind, mailed: !switchedOff.includes(kind) };
  for (const key of await itemsOf('/v1/account/keys')) yield lineOf('key', key);
  for (const grant of await itemsOf('/v1/account/grants')) yield lineOf('program', grant);
  for (const session of await listDashboardSessions(pool, accountId)) {
    yield {
      type: 'session',
      id: session.id,
      network: session.network,
      browser: session.userAgent,
      created_at: session.createdAt.toISOString(),
      last_seen_at: session.lastSeenAt.toISOString(),
    };
  }
  yield { type: 'networks', signed_in_from: await listSignInNetworks(pool, visit.account.mailbox) };
  for (const { createdAt, paidAt, ...payment } of await listExportedPayments(pool, accountId, MOST_PAYMENTS)) {
    yield { type: 'payment', ...payment, created_at: createdAt.toISOString(), paid_at: paidAt?.toISOString() ?? null };
  }
  for await (const entry of paged((query) => get('/v1/account/ledger', { query }))) yield lineOf('ledger', entry);
  for (const monitor of (await itemsOf('/v1/monitors')) as Monitor[]) {
    yield lineOf('monitor', monitor);
    yield* monitorLines(monitor.id, get);
  }
}

/** What belongs to a monitor. A monitor that is deleted meanwhile ends its part. */
async function* monitorLines(
  id: string,
  get: (path: string, request: ApiRequest) => Promise<object>,
): AsyncGenerator<Line> {
  try {
    const { items } = (await get('/v1/monitors/:id/mutes', { id })) as { items: object[] };
    for (const mute of items) yield { ...lineOf('mute', mute), monitor_id: id };
    for await (const match of matches((query) => get('/v1/monitors/:id/matches', { id, query }))) {
      yield lineOf('match', match);
    }
    for await (const attempt of paged((query) => get('/v1/monitors/:id/deliveries', { id, query }))) {
      yield { ...lineOf('delivery', attempt), monitor_id: id };
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

/** All items of a list with pages, by the cursor `after`. */
async function* paged(read: (query: Record<string, string>) => Promise<object>): AsyncGenerator<object> {
  let after: string | null | undefined;
  while (after !== null) {
    const page = (await read({ limit: String(PAGE), ...(after === undefined ? {} : { after }) })) as Page;
    yield* page.items;
    ({ after } = page);
  }
}

/** All matches, oldest first. */
async function* matches(read: (query: Record<string, string>) => Promise<object>): AsyncGenerator<object> {
  let last: string | undefined;
  for (;;) {
    const query = { order: 'oldest', limit: String(PAGE), ...(last === undefined ? {} : { after: last }) };
    const { items } = (await read(query)) as { items: { id: string }[] };
    yield* items;
    if (items.length < PAGE) return;
    last = items.at(-1)!.id;
  }
}

function lineOf(type: string, resource: object): Line {
  return { type, ...resource };
}
