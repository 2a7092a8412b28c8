import type { z } from 'zod';
import type { EventLogEntry, EventLogPage, eventLogQuery } from '../../../schemas/api/event-log.ts';
import { isEventId, matchId } from '../../../shared/domain/identifiers.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { readEventLog } from '../../../shared/stores/events/event-log.ts';
import type { LoggedEvent } from '../../../shared/stores/events/event-log.ts';
import { invalidRequest } from '../http/invalid-request.ts';

/**
 * A page of a monitor's spikes and digests, newest first. Its cursor is the id of its last event, so pages neither
 * shift nor repeat. After an event that has expired meanwhile, the list is at its end.
 *
 * @throws ApiError invalid_request when the cursor is no id of an event, or one of another monitor
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
  const items = events.slice(0, limit).map((event) => entryOf(monitorId, event));
  return { items, after: events.length > limit ? items.at(-1)!.id : null };
}

function entryOf(monitorId: string, stored: LoggedEvent): EventLogEntry {
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
