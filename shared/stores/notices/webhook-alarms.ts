import type { Queryable } from '../../postgres/pool.ts';
import { execute, readRows } from '../../postgres/sql.ts';
import type { NamedMonitor } from './notice-causes.ts';

/** A webhook whose owner was told that it fails, and that delivered since. */
export interface RecoveredWebhook extends NamedMonitor {
  /** The monitor keeps the mark webhook_failing until its owner acts. */
  isMarked: boolean;
}

/** Records that an account was told that these webhooks fail. */
export async function openAlarms(db: Queryable, accountId: string, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`
    INSERT INTO webhook_alarms (monitor_id, account_id)
    SELECT id, ${accountId} FROM unnest(${monitorIds}::text[]) AS id
    ORDER BY id
    ON CONFLICT (monitor_id) DO UPDATE SET told_at = excluded.told_at, check_at = excluded.check_at`;
}

/** An alarm to look at now. */
export interface DueAlarm extends RecoveredWebhook {
  accountId: string;
  /** `over`: the monitor, its webhook or the stored attempts are gone. */
  state: 'failing' | 'recovered' | 'over';
}

/**
 * Lists alarms that were not looked at for a minute, the longest first, and what has become of their webhooks. A
 * webhook has recovered when a match or an event was delivered after its owner was told, and none has failed since.
 *
 * @param keptDays how long attempts are stored
 */
export async function listDueAlarms(db: Queryable, keptDays: number, limit: number): Promise<DueAlarm[]> {
  return readRows<DueAlarm>(db, 'notices-list-due-alarms')`
    WITH due AS MATERIALIZED (
      SELECT monitor_id, account_id, told_at
      FROM webhook_alarms
      WHERE check_at <= (SELECT service_now())
      ORDER BY check_at
      LIMIT ${limit}
    )
    SELECT due.monitor_id AS id, due.account_id AS "accountId", coalesce(m.name, '') AS name,
      coalesce(h.webhook_failing, false) AS "isMarked",
      CASE
        WHEN m.id IS NULL OR m.status = 'deleted' OR m.webhook_url IS NULL
          OR due.told_at <= (SELECT service_now()) - make_interval(days => ${keptDays}) THEN 'over'
        WHEN coalesce(h.failures, 0) = 0 AND EXISTS (
          SELECT FROM delivery_attempts a
          WHERE a.monitor_id = due.monitor_id AND a.delivery_status = 'delivered' AND a.started_at > due.told_at
        ) THEN 'recovered'
        WHEN coalesce(h.failures, 0) = 0 AND EXISTS (
          SELECT FROM monitor_events e WHERE e.monitor_id = due.monitor_id AND e.delivered_at > due.told_at
        ) THEN 'recovered'
        ELSE 'failing'
      END AS state
    FROM due
    LEFT JOIN monitors m ON m.id = due.monitor_id
    LEFT JOIN monitor_health h ON h.monitor_id = due.monitor_id
    ORDER BY due.account_id, name, due.monitor_id`;
}

export async function closeAlarms(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`DELETE FROM webhook_alarms WHERE monitor_id = ANY (${monitorIds})`;
}

/** Looks at alarms again in a minute. */
export async function postponeAlarms(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`
    UPDATE webhook_alarms SET check_at = service_now() + interval '1 minute' WHERE monitor_id = ANY (${monitorIds})`;
}
