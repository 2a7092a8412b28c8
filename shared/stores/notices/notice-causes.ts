import type { NoticeKind } from '../../domain/notice-kinds.ts';
import type { Queryable } from '../../postgres/pool.ts';
import { execute, readRows } from '../../postgres/sql.ts';

/** Kinds whose causes triggers record. */
export type CausedKind = Extract<NoticeKind, 'monitor_paused' | 'webhook_failing'>;

export interface CausedNotice {
  accountId: string;
  kind: CausedKind;
}

/** Lists which accounts have causes that are due, and of which kind. */
export async function listCausedNotices(db: Queryable, limit: number): Promise<CausedNotice[]> {
  return readRows<CausedNotice>(db, 'notices-list-caused')`
    SELECT DISTINCT account_id AS "accountId", kind
    FROM notice_causes
    WHERE due_at <= (SELECT service_now())
    LIMIT ${limit}`;
}

/** Takes an account's due causes of a kind: deletes them and returns their monitors. */
export async function takeCauses(db: Queryable, { accountId, kind }: CausedNotice): Promise<string[]> {
  const rows = await readRows<{ monitor_id: string }>(db)`
    DELETE FROM notice_causes
    WHERE account_id = ${accountId} AND kind = ${kind} AND due_at <= (SELECT service_now())
    RETURNING monitor_id`;
  return rows.map(({ monitor_id }) => monitor_id);
}

/** Puts causes back until the next UTC day. */
export async function postponeCauses(
  db: Queryable,
  { accountId, kind }: CausedNotice,
  monitorIds: readonly string[],
): Promise<void> {
  await execute(db)`
    INSERT INTO notice_causes (kind, monitor_id, account_id, due_at)
    SELECT ${kind}, id, ${accountId}, (service_now() AT TIME ZONE 'UTC')::date + 1
    FROM unnest(${monitorIds}::text[]) AS id
    ON CONFLICT DO NOTHING`;
}

/** A monitor as a mail names it. */
export interface NamedMonitor {
  id: string;
  name: string;
}

/** Those of the monitors that are paused for lack of credits, by name. */
export async function readPausedMonitors(db: Queryable, ids: readonly string[]): Promise<NamedMonitor[]> {
  return readRows<NamedMonitor>(db)`
    SELECT id, name FROM monitors WHERE id = ANY (${ids}) AND status = 'paused_balance' ORDER BY name, id`;
}

/** The balance of an account, and how many of its monitors run. */
export async function readRunning(
  db: Queryable,
  accountId: string,
): Promise<{ balance: number; activeMonitors: number }> {
  const { rows } = await db.query<{ balance: number; activeMonitors: number }>(
    `SELECT balance, (SELECT count(*) FROM monitors WHERE account_id = $1 AND status = 'active')::int AS "activeMonitors"
     FROM accounts
     WHERE id = $1`,
    [accountId],
  );
  return rows[0] ?? { balance: 0, activeMonitors: 0 };
}

/** A webhook that fails, and what its receiver answered last. */
export interface FailingWebhook extends NamedMonitor {
  /** In a row. */
  failures: number;
  /** Whether the monitor is marked webhook_failing. */
  isMarked: boolean;
  /** Null when the attempts are no longer stored. */
  host: string | null;
  /** 0: no answer. */
  status: number | null;
  error: string | null;
}

/** Those of the monitors whose webhooks fail at least `leastFailures` times in a row, by name. */
export async function readFailingWebhooks(
  db: Queryable,
  ids: readonly string[],
  leastFailures: number,
): Promise<FailingWebhook[]> {
  return readRows<FailingWebhook>(db)`
    SELECT m.id, m.name, h.failures, h.webhook_failing AS "isMarked", last.host, last.status, last.error
    FROM monitors m
    JOIN monitor_health h ON h.monitor_id = m.id
    LEFT JOIN LATERAL (
      SELECT host, status, error
      FROM delivery_attempts
      WHERE monitor_id = m.id AND delivery_status = 'failed'
      ORDER BY started_at DESC
      LIMIT 1
    ) AS last ON true
    WHERE m.id = ANY (${ids}) AND m.status <> 'deleted' AND m.webhook_url IS NOT NULL AND h.failures >= ${leastFailures}
    ORDER BY m.name, m.id`;
}
