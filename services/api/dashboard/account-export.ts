import type { Monitor } from '../../../schemas/api/monitors.ts';
import { listSignInNetworks } from '../../../shared/accounts/accounts.ts';
import { isDashboardSessionValid, listDashboardSessions } from '../../../shared/accounts/dashboard-sessions.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { listExportedPayments } from '../../../shared/billing/payments.ts';
import { listMarks, readMarkCounts } from '../../../shared/matches/match-marks.ts';
import { NOTICE_KINDS, readSwitchedOff } from '../../../shared/notices/notices.ts';
import { matchId } from '../../../shared/rules/identifiers.ts';
import { ApiError } from '../http/api-error.ts';
import type { DashboardDeps } from './dashboard.ts';
import type { ApiRequest, PageRequest } from './page.ts';

/** Of the format. New members and new types of lines do not change it. */
const VERSION = 1;
/** Matches and attempts per page: each page is one short statement. */
const PAGE = 100;
const MAX_PAYMENTS = 10_000;
const PIECE_LENGTH = 64 * 1024;

type Line = { type: string } & Record<string, unknown>;

/** JSON lines, as the README says. When the session ends meanwhile, so does the export, without its last line. */
export async function* exportAccount(deps: DashboardDeps, request: PageRequest): AsyncGenerator<string> {
  let piece = '';
  let count = 0;
  for await (const line of lines(deps, request)) {
    count++;
    piece += `${JSON.stringify(line)}\n`;
    if (piece.length < PIECE_LENGTH) continue;
    yield piece;
    piece = '';
    if (!(await isDashboardSessionValid(deps.pool, request.session.id)))
      throw new ApiError('unauthorized', 'Signed out.');
  }
  yield `${piece}${JSON.stringify({ type: 'end', lines: count })}\n`;
}

async function* lines({ pool }: DashboardDeps, request: PageRequest): AsyncGenerator<Line> {
  const { account, now, read } = request;
  const itemsOf = async (path: string) => ((await read(path)) as { items: object[] }).items;
  yield { type: 'export', version: VERSION, exported_at: new Date(now).toISOString() };
  yield lineOf('account', await read('/v1/account'));
  const switchedOff = await readSwitchedOff(pool, account.id);
  for (const kind of NOTICE_KINDS) yield { type: 'notice', kind, mailed: !switchedOff.includes(kind) };
  for (const key of await itemsOf('/v1/account/keys')) yield lineOf('key', key);
  for (const grant of await itemsOf('/v1/account/grants')) yield lineOf('program', grant);
  for (const { id, network, userAgent, createdAt, lastSeenAt } of await listDashboardSessions(pool, account.id)) {
    const times = { created_at: createdAt.toISOString(), last_seen_at: lastSeenAt.toISOString() };
    yield { type: 'session', id, network, browser: userAgent, ...times };
  }
  yield { type: 'networks', signed_in_from: await listSignInNetworks(pool, account.mailbox) };
  for (const { createdAt, paidAt, ...payment } of await listExportedPayments(pool, account.id, MAX_PAYMENTS)) {
    yield { type: 'payment', ...payment, created_at: createdAt.toISOString(), paid_at: paidAt?.toISOString() ?? null };
  }
  for await (const entry of paged(request, '/v1/account/ledger')) yield lineOf('ledger', entry);
  for (const monitor of (await itemsOf('/v1/monitors')) as Monitor[]) {
    yield lineOf('monitor', monitor);
    yield* monitorLines(pool, request, monitor.id);
  }
}

/** What belongs to a monitor. A monitor that is deleted meanwhile ends its part. */
async function* monitorLines(pool: Pool, request: PageRequest, id: string): AsyncGenerator<Line> {
  try {
    const { items } = (await request.read('/v1/monitors/:id/mutes', { id })) as { items: object[] };
    for (const mute of items) yield { ...lineOf('mute', mute), monitor_id: id };
    for await (const match of paged(request, '/v1/monitors/:id/matches', { id, query: { order: 'oldest' } })) {
      yield lineOf('match', match);
    }
    for (const { seq, mark, createdAt } of await listMarks(pool, id)) {
      yield { type: 'mark', monitor_id: id, match_id: matchId(id, seq), mark, created_at: createdAt.toISOString() };
    }
    const { readSeq } = await readMarkCounts(pool, id);
    if (readSeq > 0) yield { type: 'seen', monitor_id: id, up_to: matchId(id, readSeq) };
    for await (const attempt of paged(request, '/v1/monitors/:id/deliveries', { id })) {
      yield { ...lineOf('delivery', attempt), monitor_id: id };
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
  }
}

async function* paged({ read }: PageRequest, path: string, options: ApiRequest = {}): AsyncGenerator<object> {
  let cursor = {};
  for (;;) {
    const query = { ...options.query, limit: String(PAGE), ...cursor };
    const { items, after } = (await read(path, { ...options, query })) as { items: object[]; after: string | null };
    yield* items;
    if (after === null) return;
    cursor = { after };
  }
}

const lineOf = (type: string, resource: object): Line => ({ type, ...resource });
