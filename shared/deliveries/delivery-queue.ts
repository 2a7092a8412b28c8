import { BEYOND_LEASES } from '../maintenance/leases.ts';
import type { Queryable } from '../postgres/pool.ts';
import { readRows } from '../postgres/sql.ts';

/** Where a monitor's matches are sent now. The URL is null when the monitor is deleted or has no webhook. */
export interface DeliveryTarget {
  monitorId: string;
  webhookUrl: string | null;
  /** Null when the monitor is deleted. */
  accountId: string | null;
  /** Whether the last attempt of the newest attempted match was answered within a second; null when there is none. */
  isAnswering: boolean | null;
}

/** One step of the walk over the monitors that have pending matches. */
export interface QueuePage {
  /** Monitors with a match whose attempt is due and that has no live lease, or one of a clock that was ahead. */
  due: DeliveryTarget[];
  /** The monitor after which the next step continues; null when the walk is complete. */
  next: string | null;
}

/**
 * Reads up to `limit` monitors after `after` (by id, '' for the start) that have pending matches. It is a loose index
 * scan: one probe of matches_pending finds the next monitor, and another finds out whether one of its rows is due,
 * however many rows an unreachable endpoint has accumulated.
 */
export async function readDueMonitors(db: Queryable, after: string, limit: number): Promise<QueuePage> {
  const rows = await readRows<DeliveryTarget & { isDue: boolean }>(db, 'deliveries-read-due-monitors')`
    WITH RECURSIVE walk AS (
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > ${after}
        ORDER BY m.monitor_id LIMIT 1
      ) AS monitor_id, 1 AS step
      UNION ALL
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > walk.monitor_id
        ORDER BY m.monitor_id LIMIT 1
      ), walk.step + 1
      FROM walk
      WHERE walk.monitor_id IS NOT NULL AND walk.step < ${limit}
    )
    SELECT walk.monitor_id AS "monitorId",
      EXISTS (
        SELECT FROM matches m
        WHERE m.monitor_id = walk.monitor_id AND m.delivery_status = 'pending'
          AND m.next_attempt_at <= (SELECT service_now())
          AND (m.lease_until IS NULL OR m.lease_until <= (SELECT service_now())
            OR m.lease_until > (SELECT service_now()) + ${BEYOND_LEASES})
      ) AS "isDue",
      w.webhook_url AS "webhookUrl", w.account_id AS "accountId",
      (
        SELECT a.status > 0 AND a.duration_ms < 1000 FROM delivery_attempts a
        WHERE a.monitor_id = walk.monitor_id ORDER BY a.seq DESC, a.attempt DESC LIMIT 1
      ) AS "isAnswering"
    FROM walk
    LEFT JOIN monitors w ON w.id = walk.monitor_id AND w.status <> 'deleted'
    WHERE walk.monitor_id IS NOT NULL
    ORDER BY walk.monitor_id`;
  return {
    due: rows.flatMap(({ isDue, ...target }) => (isDue ? [target] : [])),
    next: rows.length < limit ? null : rows.at(-1)!.monitorId,
  };
}

/** In the order of the given ids. */
export async function readDeliveryTargets(db: Queryable, monitorIds: readonly string[]): Promise<DeliveryTarget[]> {
  const rows = await readRows<DeliveryTarget>(db, 'deliveries-read-targets')`
    SELECT m.id AS "monitorId", m.webhook_url AS "webhookUrl", m.account_id AS "accountId",
      (
        SELECT a.status > 0 AND a.duration_ms < 1000 FROM delivery_attempts a
        WHERE a.monitor_id = m.id ORDER BY a.seq DESC, a.attempt DESC LIMIT 1
      ) AS "isAnswering"
    FROM monitors m
    WHERE m.id = ANY (${monitorIds}::text[]) AND m.status <> 'deleted'`;
  const targets = new Map(rows.map((target) => [target.monitorId, target]));
  return monitorIds.map(
    (monitorId) => targets.get(monitorId) ?? { monitorId, webhookUrl: null, accountId: null, isAnswering: null },
  );
}

/** Deliveries whose attempt is due, and those under way. */
export interface DueDeliveries {
  /** At most `MAX_DUE` of each of `MAX_MONITORS` monitors are counted. */
  due: number;
  /** How long the oldest of them has been due, in milliseconds; null without any. */
  oldestMs: number | null;
  /** Attempts under way now, among the oldest due deliveries. */
  underWay: number;
}

const MAX_MONITORS = 1_000;
const MAX_DUE = 100;

/** Reads a bounded part of those that wait, by a loose index scan as readDueMonitors. */
export async function countDueDeliveries(db: Queryable): Promise<DueDeliveries> {
  const rows = await readRows<DueDeliveries>(db)`
    WITH RECURSIVE walk AS (
      SELECT (
        SELECT m.monitor_id FROM matches m WHERE m.delivery_status = 'pending' ORDER BY m.monitor_id LIMIT 1
      ) AS monitor_id, 1 AS step
      UNION ALL
      SELECT (
        SELECT m.monitor_id FROM matches m
        WHERE m.delivery_status = 'pending' AND m.monitor_id > walk.monitor_id
        ORDER BY m.monitor_id LIMIT 1
      ), walk.step + 1
      FROM walk
      WHERE walk.monitor_id IS NOT NULL AND walk.step < ${MAX_MONITORS}
    ), oldest AS (
      SELECT o.next_attempt_at, coalesce(o.lease_until > (SELECT service_now()), false) AS is_under_way
        FROM walk
       CROSS JOIN LATERAL (
         SELECT m.next_attempt_at, m.lease_until FROM matches m
          WHERE m.monitor_id = walk.monitor_id AND m.delivery_status = 'pending'
            AND m.next_attempt_at <= (SELECT service_now())
          ORDER BY m.next_attempt_at LIMIT ${MAX_DUE}
       ) AS o
    )
    SELECT count(*) FILTER (WHERE NOT is_under_way) AS due,
           (extract(epoch FROM (SELECT service_now()) - min(next_attempt_at) FILTER (WHERE NOT is_under_way)) *
             1000)::float8
             AS "oldestMs",
           count(*) FILTER (WHERE is_under_way) AS "underWay"
      FROM oldest`;
  return rows[0] ?? { due: 0, oldestMs: null, underWay: 0 };
}
