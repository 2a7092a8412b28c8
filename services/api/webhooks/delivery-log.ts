import type { z } from 'zod';
import type { DeliveryLogEntry, DeliveryLogPage, deliveryLogQuery } from '../../../schemas/api/delivery-log.ts';
import { matchId, parseMatchId } from '../../../shared/domain/identifiers.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { readAttemptsBefore } from '../../../shared/stores/deliveries/delivery-log.ts';
import type { AttemptPosition, StoredAttempt } from '../../../shared/stores/deliveries/delivery-log.ts';
import { invalidRequest } from '../http/invalid-request.ts';

const NEWEST: AttemptPosition = { seq: Number.MAX_SAFE_INTEGER, attempt: 0 };
const CURSOR = /^(mat_[0-9a-z]+_\d{12})\.([1-9]\d{0,8})$/;

/**
 * A page of delivery attempts.
 *
 * @throws ApiError invalid_request when the cursor or the match is not of this monitor
 */
export async function readDeliveryLog(
  db: Queryable,
  monitorId: string,
  { limit, after, match }: z.output<typeof deliveryLogQuery>,
): Promise<DeliveryLogPage> {
  const seq = match === undefined ? undefined : seqOf('match', match, monitorId);
  const before = after === undefined ? NEWEST : positionOf(after, monitorId);
  // One row more than requested shows whether there is a next page.
  const rows = await readAttemptsBefore(db, monitorId, { before, seq, limit: limit + 1 });
  const items = rows.slice(0, limit).map((attempt) => entryOf(monitorId, attempt));
  const last = items.at(-1);
  return { items, after: last && rows.length > limit ? `${last.match_id}.${last.attempt}` : null };
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
