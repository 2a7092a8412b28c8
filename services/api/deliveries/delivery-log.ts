import type { z } from 'zod';
import type {
  DeliveryLogEntry,
  DeliveryLogPage,
  deliveryLogQuery,
  EventLogEntry,
  EventLogPage,
  eventLogQuery,
} from '../../../schemas/api/deliveries.ts';
import { isEventId, matchId, parseMatchId } from '../../../shared/rules/identifiers.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readAttemptsBefore, readFilteredAttempts } from '../../../shared/deliveries/delivery-log.ts';
import type { AttemptPosition, StoredAttempt } from '../../../shared/deliveries/delivery-log.ts';
import { readEventLog } from '../../../shared/deliveries/event-deliveries.ts';
import type { LoggedEvent } from '../../../shared/deliveries/event-deliveries.ts';
import { invalidRequest } from '../http/api-error.ts';

const NEWEST: AttemptPosition = { seq: Number.MAX_SAFE_INTEGER, attempt: 0 };
const CURSOR = /^(mat_[0-9a-z]+_\d{12})\.([1-9]\d{0,8})$/;

/**
 * A page of delivery attempts. A filtered page reads a bounded number of attempts, so it may be empty and still have a
 * cursor: of the last attempt that it read.
 *
 * @throws ApiError invalid_request when the cursor or the match is not of this monitor
 */
export async function readDeliveryLog(
  pool: Pool,
  monitorId: string,
  { limit, after, match, status, since }: z.output<typeof deliveryLogQuery>,
): Promise<DeliveryLogPage> {
  const seq = match === undefined ? undefined : seqOf('match', match, monitorId);
  const before = after === undefined ? NEWEST : positionOf(after, monitorId);
  // One row more than requested shows whether there is a next page.
  const page = { before, seq, limit: limit + 1 };
  const filter = { status, since: since === undefined ? undefined : new Date(since) };
  const { attempts, lastRead } =
    status === undefined && since === undefined
      ? { attempts: await readAttemptsBefore(pool, monitorId, page), lastRead: undefined }
      : await readFilteredAttempts(pool, monitorId, { ...page, filter });
  const shown = attempts.slice(0, limit);
  const next = attempts.length > limit ? shown.at(-1) : lastRead;
  return {
    items: shown.map((attempt) => entryOf(monitorId, attempt)),
    after: next === undefined ? null : `${matchId(monitorId, next.seq)}.${next.attempt}`,
  };
}

function seqOf(field: string, id: string, monitorId: string): number {
  const named = parseMatchId(id);
  if (named?.monitorId === monitorId) return named.seq;
  throw invalidRequest([{ field, message: 'must be the id of a match of this monitor' }]);
}

function positionOf(cursor: string, monitorId: string): AttemptPosition {
  const [, id, attempt] = CURSOR.exec(cursor) ?? [];
  if (id === undefined) throw invalidRequest([{ field: 'after', message: 'must be the `after` of a page' }]);
  return { seq: seqOf('after', id, monitorId), attempt: Number(attempt) };
}

function entryOf(monitorId: string, stored: StoredAttempt): DeliveryLogEntry {
  return {
    match_id: matchId(monitorId, stored.seq),
    attempt: stored.attempt,
    duration_ms: stored.durationMs,
    webhook_kind: stored.webhookKind,
    host: stored.host,
    status: stored.status,
    error: stored.error,
    response_excerpt: stored.responseExcerpt,
    delivery_status: stored.deliveryStatus,
    started_at: stored.startedAt.toISOString(),
    next_attempt_at: stored.nextAttemptAt?.toISOString() ?? null,
  };
}

/**
 * A page of a monitor's spikes and digests, newest first. Its cursor is the id of its last event, so pages neither
 * shift nor repeat. After an event that has expired meanwhile, the list is at its end.
 *
 * @throws ApiError invalid_request when the cursor is not the id of an event of this monitor
 */
export async function readEventLogPage(
  pool: Pool,
  monitorId: string,
  { limit, after }: z.output<typeof eventLogQuery>,
): Promise<EventLogPage> {
  // One row more than requested shows whether there is a next page.
  const isCursor = after === undefined || isEventId(after);
  const events = isCursor ? await readEventLog(pool, monitorId, { beforeId: after, limit: limit + 1 }) : undefined;
  if (events === undefined) throw invalidRequest([{ field: 'after', message: 'must be the `after` of a page' }]);
  const items = events.slice(0, limit).map((event) => eventEntryOf(monitorId, event));
  return { items, after: events.length > limit ? items.at(-1)!.id : null };
}

function eventEntryOf(monitorId: string, stored: LoggedEvent): EventLogEntry {
  return {
    id: stored.id,
    type: stored.kind,
    created_at: stored.createdAt.toISOString(),
    delivery_status: stored.deliveryStatus,
    attempts: stored.attempts,
    last_attempt_at: stored.lastAttemptAt?.toISOString() ?? null,
    last_status: stored.lastStatus,
    last_error: stored.lastError,
    next_attempt_at: stored.nextAttemptAt?.toISOString() ?? null,
    delivered_at: stored.deliveredAt?.toISOString() ?? null,
    ...contentOf(monitorId, stored),
  };
}

function contentOf(monitorId: string, stored: LoggedEvent): Pick<EventLogEntry, 'spike' | 'digest'> {
  if (stored.kind === 'monitor.spike') return { spike: stored.payload };
  const { period, after, until, count, url } = stored.payload;
  const range = { after: after === 0 ? null : matchId(monitorId, after), until: matchId(monitorId, until) };
  return { digest: { interval: period, count, url, ...range } };
}
