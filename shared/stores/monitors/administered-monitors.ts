import type { MonitorStatus } from '../../../schemas/api/monitor.ts';
import type { Queryable } from '../../postgres/pool.ts';

/** A monitor as lists of the whole installation show it. */
export interface ListedMonitor {
  id: string;
  accountId: string;
  name: string;
  keywords: string[];
  /** The texts of its terms; empty: none. */
  terms: string[];
  status: MonitorStatus;
  webhookKind: string | null;
  webhookFailing: boolean;
  nextChargeAt: Date;
  lastMatchAt: Date | null;
  createdAt: Date;
}

export interface MonitorFilter {
  accountId?: string | undefined;
  status?: MonitorStatus | undefined;
  /** Only those whose webhook is failing. */
  failing?: boolean;
  /** Only monitors with a greater id. */
  afterId?: string | undefined;
  limit: number;
}

/** Monitors of all accounts in the order of their ids; deleted ones only when asked for by status. */
export async function listAllMonitors(db: Queryable, filter: MonitorFilter): Promise<ListedMonitor[]> {
  const { rows } = await db.query<ListedMonitor>(
    `SELECT m.id, m.account_id AS "accountId", m.name, m.keywords, m.status,
            ARRAY(SELECT term ->> 'text' FROM jsonb_array_elements(m.refinements -> 'terms') AS term) AS terms,
            m.webhook_kind AS "webhookKind",
            coalesce(h.webhook_failing, false) AS "webhookFailing", m.next_charge_at AS "nextChargeAt",
            c.last_match_at AS "lastMatchAt", m.created_at AS "createdAt"
       FROM monitors m
       LEFT JOIN monitor_counters c ON c.monitor_id = m.id
       LEFT JOIN monitor_health h ON h.monitor_id = m.id
      WHERE m.id > $1 AND ($2::text IS NULL OR m.account_id = $2)
        AND CASE WHEN $3::text IS NULL THEN m.status <> 'deleted' ELSE m.status = $3 END
        AND ($4::boolean IS NOT TRUE OR h.webhook_failing)
      ORDER BY m.id
      LIMIT $5`,
    [filter.afterId ?? '', filter.accountId ?? null, filter.status ?? null, filter.failing ?? false, filter.limit],
  );
  return rows;
}

/** The account that a monitor in any state belongs to; undefined when there is no such monitor. */
export async function findMonitorOwner(db: Queryable, id: string): Promise<string | undefined> {
  const { rows } = await db.query<{ accountId: string }>(
    'SELECT account_id AS "accountId" FROM monitors WHERE id = $1',
    [id],
  );
  return rows[0]?.accountId;
}
