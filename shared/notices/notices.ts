import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRows } from '../postgres/sql.ts';

export const NOTICE_KINDS = ['low_balance', 'monitor_paused', 'webhook_failing', 'webhook_recovered'] as const;

export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** What a mail says, by kind; stored until the mail is settled. */
export type NoticeFacts =
  | { kind: 'low_balance'; balance: number; activeMonitors: number; readingCredits: number }
  | { kind: 'monitor_paused'; monitors: NamedMonitor[]; balance: number; activeMonitors: number }
  | { kind: 'webhook_failing'; webhooks: FailingWebhook[] }
  | { kind: 'webhook_recovered'; webhooks: RecoveredWebhook[] };

/** Stores a notice, unless the account had one of its kind on this UTC day: of concurrent callers one succeeds. */
export async function claimNotice(db: Queryable, accountId: string, facts: NoticeFacts): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO notices (account_id, kind, day, facts)
    VALUES (${accountId}, ${facts.kind}, (service_now() AT TIME ZONE 'UTC')::date, ${facts})
    ON CONFLICT DO NOTHING`;
}

/** How many notices wait to be mailed, counted up to `most`. */
export async function countWaitingNotices(db: Queryable, most: number): Promise<number> {
  const { count } = await readOne<{ count: number }>(db)`
    SELECT count(*)::int AS count FROM (SELECT FROM notices WHERE outcome IS NULL LIMIT ${most}) AS waiting`;
  return count;
}

/** Deletes everything about notices of an account. Requires the account's lock. */
export async function deleteAccountNotices(db: Queryable, accountId: string): Promise<void> {
  await execute(db)`
    WITH causes AS (
      DELETE FROM notice_causes WHERE account_id = ${accountId}
    ), alarms AS (
      DELETE FROM webhook_alarms WHERE account_id = ${accountId}
    ), choices AS (
      DELETE FROM notice_opt_outs WHERE account_id = ${accountId}
    )
    DELETE FROM notices WHERE account_id = ${accountId}`;
}

/** Kinds whose causes triggers record. */
export type CausedKind = Extract<NoticeKind, 'monitor_paused' | 'webhook_failing'>;

export interface CausedNotice {
  accountId: string;
  kind: CausedKind;
}

export async function listCausedNotices(db: Queryable, limit: number): Promise<CausedNotice[]> {
  return readRows<CausedNotice>(db, 'notices-list-caused')`
    SELECT DISTINCT account_id AS "accountId", kind
    FROM notice_causes
    WHERE due_at <= (SELECT service_now())
    LIMIT ${limit}`;
}

/** Deletes the due causes of an account and kind, and returns their monitors. */
export async function takeCauses(db: Queryable, { accountId, kind }: CausedNotice): Promise<string[]> {
  const rows = await readRows<{ monitor_id: string }>(db)`
    DELETE FROM notice_causes
    WHERE account_id = ${accountId} AND kind = ${kind} AND due_at <= (SELECT service_now())
    RETURNING monitor_id`;
  return rows.map(({ monitor_id }) => monitor_id);
}

/** Until the next UTC day. */
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

export interface NamedMonitor {
  id: string;
  name: string;
}

export async function readPausedMonitors(db: Queryable, ids: readonly string[]): Promise<NamedMonitor[]> {
  return readRows<NamedMonitor>(db)`
    SELECT id, name FROM monitors WHERE id = ANY (${ids}) AND status = 'paused_balance' ORDER BY name, id`;
}

export async function readRunning(
  db: Queryable,
  accountId: string,
): Promise<{ balance: number; activeMonitors: number }> {
  const rows = await readRows<{ balance: number; activeMonitors: number }>(db)`
    SELECT balance,
      (SELECT count(*) FROM monitors WHERE account_id = ${accountId} AND status = 'active')::int AS "activeMonitors"
    FROM accounts
    WHERE id = ${accountId}`;
  return rows[0] ?? { balance: 0, activeMonitors: 0 };
}

export interface FailingWebhook extends NamedMonitor {
  /** In a row. */
  failures: number;
  isMarked: boolean;
  /** Null when the attempts are no longer stored. */
  host: string | null;
  /** 0: no answer. */
  status: number | null;
  error: string | null;
}

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

/** A webhook whose owner was told that it fails, and that delivered since. */
export interface RecoveredWebhook extends NamedMonitor {
  /** The monitor keeps the mark webhook_failing until its owner acts. */
  isMarked: boolean;
}

export async function openAlarms(db: Queryable, accountId: string, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`
    INSERT INTO webhook_alarms (monitor_id, account_id)
    SELECT id, ${accountId} FROM unnest(${monitorIds}::text[]) AS id
    ORDER BY id
    ON CONFLICT (monitor_id) DO UPDATE SET told_at = excluded.told_at, check_at = excluded.check_at`;
}

export interface DueAlarm extends RecoveredWebhook {
  accountId: string;
  /** `over`: the monitor, its webhook or the stored attempts no longer exist. */
  state: 'failing' | 'recovered' | 'over';
}

/**
 * Lists alarms that were not checked for a minute, the longest first, with the state of their webhooks. A
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

export async function postponeAlarms(db: Queryable, monitorIds: readonly string[]): Promise<void> {
  await execute(db)`
    UPDATE webhook_alarms SET check_at = service_now() + interval '1 minute' WHERE monitor_id = ANY (${monitorIds})`;
}

/** In the order of NOTICE_KINDS. */
export async function readSwitchedOff(db: Queryable, accountId: string): Promise<NoticeKind[]> {
  const rows = await readRows<{ kind: string }>(db)`SELECT kind FROM notice_opt_outs WHERE account_id = ${accountId}`;
  const kinds = new Set(rows.map(({ kind }) => kind));
  return NOTICE_KINDS.filter((kind) => kinds.has(kind));
}

/** Switches off exactly these kinds, and all others on. Without effect on a deleted account. */
export async function switchOffNotices(db: Queryable, accountId: string, kinds: readonly NoticeKind[]): Promise<void> {
  await execute(db)`
    WITH chosen AS (
      SELECT unnest(${kinds}::text[]) AS kind
    ), switched_on AS (
      DELETE FROM notice_opt_outs WHERE account_id = ${accountId} AND kind NOT IN (SELECT kind FROM chosen)
    )
    INSERT INTO notice_opt_outs (account_id, kind)
    SELECT a.id, chosen.kind FROM accounts a, chosen WHERE a.id = ${accountId} AND a.status <> 'deleted'
    ON CONFLICT DO NOTHING`;
}

export interface CreditUse {
  accountId: string;
  balance: number;
  activeMonitors: number;
  /** Credits spent on reading in the last 24 hours: today's, and of yesterday's the part that is not over. */
  readingCredits: number;
}

export interface CreditUsePage {
  /**
   * Without accounts that have no running monitor, that switched the notice off, or that are told today that monitors
   * were paused.
   */
  uses: CreditUse[];
  /** Undefined: this was the last page. */
  lastId: string | undefined;
}

/** Reads one row per day, route and key of two days for each account, however many charges there were. */
export async function readCreditUses(db: Queryable, afterId: string, limit: number): Promise<CreditUsePage> {
  const rows = await readRows<CreditUse & { wanted: boolean }>(db, 'notices-read-credit-uses')`
    WITH moment AS MATERIALIZED (
      SELECT now, now::date AS today, extract(epoch FROM now - now::date)::float8 / 86400 AS elapsed
      FROM (SELECT service_now() AT TIME ZONE 'UTC' AS now) AS utc
    ), page AS MATERIALIZED (
      SELECT id, balance, status FROM accounts WHERE id > ${afterId} ORDER BY id LIMIT ${limit}
    )
    SELECT page.id AS "accountId", page.balance, running.monitors AS "activeMonitors",
      CASE WHEN running.monitors = 0 THEN 0 ELSE (
        SELECT coalesce(round(sum(
          CASE WHEN u.day = moment.today THEN u.credits ELSE u.credits * (1 - moment.elapsed) END)), 0)::float8
        FROM usage_days u
        WHERE u.account_id = page.id AND u.day BETWEEN moment.today - 1 AND moment.today
          AND u.route LIKE '% /v1/forum/%'
      ) END AS "readingCredits",
      page.status = 'active' AND running.monitors > 0 AND NOT EXISTS (
        SELECT FROM notice_opt_outs o WHERE o.account_id = page.id AND o.kind = 'low_balance'
      ) AND NOT EXISTS (
        SELECT FROM notices n
        WHERE n.account_id = page.id AND n.kind = 'monitor_paused' AND n.day = moment.today
      ) AND NOT EXISTS (
        SELECT FROM notice_causes c WHERE c.account_id = page.id AND c.kind = 'monitor_paused'
      ) AS wanted
    FROM page
    CROSS JOIN moment
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS monitors FROM monitors m WHERE m.account_id = page.id AND m.status = 'active'
    ) AS running
    ORDER BY page.id`;
  const uses = rows.flatMap(({ wanted, ...use }) => (wanted ? [use] : []));
  return { uses, lastId: rows.length < limit ? undefined : rows.at(-1)?.accountId };
}
