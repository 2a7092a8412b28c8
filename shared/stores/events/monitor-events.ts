import { newEventId } from '../../domain/identifiers.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { isChanged } from '../../postgres/sql.ts';

export type MonitorEventKind = 'monitor.spike' | 'monitor.digest';

/** An event to be delivered to a monitor's webhook. */
export interface NewMonitorEvent {
  monitorId: string;
  kind: MonitorEventKind;
  /** What it is about, so that it is stored once: the hour of a spike, the first seq of a digest. */
  key: string;
  /** The `spike` of the body (monitor.spike), or the range that a digest is built from (monitor.digest). */
  payload: object;
}

/**
 * Stores an event for delivery at once, unless the monitor has one of that kind and key. Repeating it is harmless.
 *
 * @returns whether it was stored
 */
export async function insertMonitorEvent(
  db: Queryable,
  { monitorId, kind, key, payload }: NewMonitorEvent,
): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO monitor_events (id, monitor_id, kind, key, payload, created_at, next_attempt_at)
    SELECT ${newEventId()}, ${monitorId}, ${kind}, ${key}, ${JSON.stringify(payload)}, now,
      now FROM service_now() AS now
    ON CONFLICT (monitor_id, kind, key) DO NOTHING`;
}
