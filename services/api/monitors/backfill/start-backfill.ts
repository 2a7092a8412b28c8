import { backfillHours, startBackfillBody } from '../../../../schemas/api/monitors/backfill.ts';
import { newBackfillId } from '../../../../shared/domain/identifiers.ts';
import type { Queryable } from '../../../../shared/postgres/pool.ts';
import {
  ARCHIVE_DAYS,
  countRecentBackfills,
  insertBackfill,
} from '../../../../shared/stores/backfills/backfill-runs.ts';
import type { StoredBackfill } from '../../../../shared/stores/backfills/backfill-runs.ts';
import { ruleOf } from '../../../../shared/stores/monitors/monitors.ts';
import type { Rule } from '../../../../shared/matching/rule.ts';
import { ApiError } from '../../http/api-error.ts';
import { chargedRequest } from '../../http/route.ts';
import { parseRequest, refuseFaults } from '../../http/invalid-request.ts';
import type { Call } from '../../http/route.ts';
import { findAndLockMonitor } from '../find-monitor.ts';

/** Each run reads the archive, even when it finds nothing and costs nothing. */
const RUNS_PER_DAY = 10;
/** Clocks of clients may be ahead by so much. */
const AHEAD_MS = 60_000;
const ARCHIVE_MS = ARCHIVE_DAYS * 24 * 60 * 60_000;
const HOUR_MS = 60 * 60_000;

/** What a run is asked for, checked. */
export interface WantedBackfill {
  /** ISO 8601. */
  from: string;
  /** undefined: now. */
  to: string | undefined;
  deliver: boolean;
  maxCredits: number | undefined;
}

/** @throws ApiError invalid_request */
export function wantedBackfill(body: unknown, nowMs: number): WantedBackfill {
  const { from, to, deliver, max_credits } = parseRequest(startBackfillBody, body === undefined ? {} : body, 'body');
  const [fromMs, toMs] = [Date.parse(from), to === undefined ? nowMs : Date.parse(to)];
  if (toMs > nowMs + AHEAD_MS) refuseFaults([{ field: 'to', message: 'must not be in the future' }]);
  if (toMs <= nowMs - ARCHIVE_MS) {
    refuseFaults([{ field: 'to', message: `must be in the last ${ARCHIVE_DAYS} days, which the archive holds` }]);
  }
  if (fromMs >= Math.min(toMs, nowMs)) {
    refuseFaults([{ field: 'from', message: to === undefined ? 'must be in the past' : 'must be before to' }]);
  }
  return { from, to, deliver, maxCredits: max_credits };
}

/** The backfill that a valid body of POST /v1/monitors asks for. */
export function wantedWithNewMonitor(body: unknown, nowMs: number): WantedBackfill | undefined {
  const { backfill_hours: given } = body as { backfill_hours?: unknown };
  if (given === undefined) return undefined;
  const from = new Date(nowMs - backfillHours.parse(given) * HOUR_MS).toISOString();
  return { from, to: undefined, deliver: false, maxCredits: undefined };
}

/**
 * Starts a run for a monitor of the account, in any state but deleted, in the transaction of `client`. The rule as it
 * is now judges the archive.
 *
 * @throws ApiError not_found, insufficient_credits, backfill_running, rate_limited
 */
export async function startBackfill(
  client: Queryable,
  call: Pick<Call, 'caller' | 'requestId' | 'id'>,
  wanted: WantedBackfill,
): Promise<StoredBackfill> {
  const monitor = await findAndLockMonitor(client, call.caller.accountId, call.id);
  if (call.caller.balance < 1) {
    throw new ApiError('insufficient_credits', 'A backfill costs 1 credit for each started 100 matches.');
  }
  const { isRunning, begun, secondsUntilFewer } = await countRecentBackfills(client, call.id);
  if (isRunning) throw new ApiError('backfill_running', 'A backfill of this monitor is running; wait for its end.');
  if (begun >= RUNS_PER_DAY) {
    const message = `The monitor had ${begun} backfills in the last 24 hours, the most it may have.`;
    throw new ApiError('rate_limited', message, { retryAfter: Math.max(1, secondsUntilFewer) });
  }
  const judge = { monitorId: monitor.id, version: monitor.version, rule: ruleOf(monitor) };
  return addBackfill(client, call, { ...wanted, ...judge, path: '/v1/monitors/:id/backfill' });
}

/** Starts a run for a monitor whose lock the transaction of `client` holds. */
export function addBackfill(
  client: Queryable,
  call: Pick<Call, 'caller' | 'requestId'>,
  { path, ...wanted }: WantedBackfill & { monitorId: string; version: number; rule: Rule; path: string },
): Promise<StoredBackfill> {
  return insertBackfill(client, {
    ...wanted,
    id: newBackfillId(),
    accountId: call.caller.accountId,
    request: chargedRequest(call, { method: 'post', path }),
  });
}
