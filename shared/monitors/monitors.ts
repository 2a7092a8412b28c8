import type {
  DigestPeriod,
  MonitorStatus,
  MuteKind,
  NotifyBy,
  NotifyStopped,
  WebhookKind,
} from '../../schemas/api/monitors.ts';
import { MONITOR_CHANGED_CHANNEL } from '../../schemas/messages/topics.ts';
import type { Rule, RuleRefinements } from '../matching/rule.ts';
import type { Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readOne, readRow, readRows, sql } from '../postgres/sql.ts';

export interface MonitorSettings {
  name: string;
  keywords: string[];
  exclude: string[];
  /** Without r/, as the user wrote them; empty for all subreddits. */
  subreddits: string[];
  posts: boolean;
  comments: boolean;
  nsfw: boolean;
  /** The conditions in use; null: none. */
  refinements: RuleRefinements | null;
  /** At most one match a thread and UTC day. */
  threadOnce: boolean;
  /** Both are null, or neither is. */
  webhookUrl: string | null;
  webhookKind: WebhookKind | null;
  /** Whether spikes are sent to the webhook. */
  spikeWebhook: boolean;
  /** Matches are sent together; null: each by itself. */
  digest: DigestPeriod | null;
  /** Where matches are mailed to, beside; null: nowhere. */
  notify: NotifyBy | null;
}

export interface StoredMonitor extends MonitorSettings {
  id: string;
  status: MonitorStatus;
  /** Version of the rule. */
  version: number;
  /** Number of the last paid period. */
  periodNo: number;
  nextChargeAt: Date;
  createdAt: Date;
  updatedAt: Date;
  webhookFailing: boolean;
  /** Why notify was ended for its owner; null: it was not, or was switched on since. */
  notifyStopped: NotifyStopped | null;
  lastMatchAt: Date | null;
  /** Seq of the newest match; 0 before the first; null when a deleted monitor was erased. */
  lastSeq: number | null;
}

export function ruleOf({
  refinements,
  ...settings
}: Omit<MonitorSettings, 'name' | 'spikeWebhook' | 'digest' | 'notify'>): Rule {
  const { keywords, exclude, subreddits, posts, comments, nsfw } = settings;
  return { keywords, exclude, subreddits, posts, comments, nsfw, ...refinements };
}

/**
 * Inserts an active monitor in its first period, with its lock row and the first version of its rule. The statement
 * reads the clock for active_since, so call it after the account is locked, never before.
 *
 * @param monitor.sealedSecret the encrypted webhook secret
 */
export async function insertMonitor(
  db: Queryable,
  monitor: MonitorSettings & { id: string; accountId: string; sealedSecret: Buffer },
): Promise<void> {
  await execute(db)`
    WITH added AS (
      INSERT INTO monitors (id, account_id, name, keywords, exclude, subreddits, posts, comments, nsfw, refinements,
        thread_once, webhook_url, webhook_kind, webhook_secret, spike_webhook, digest, notify, active_since,
        next_charge_at)
      VALUES (${monitor.id}, ${monitor.accountId}, ${monitor.name}, ${monitor.keywords}, ${monitor.exclude},
        ${monitor.subreddits}, ${monitor.posts}, ${monitor.comments}, ${monitor.nsfw}, ${monitor.refinements},
        ${monitor.threadOnce}, ${monitor.webhookUrl}, ${monitor.webhookKind}, ${monitor.sealedSecret},
        ${monitor.spikeWebhook}, ${monitor.digest}, ${monitor.notify}, wall_now(), service_now() + interval '24 hours')
      RETURNING id, version, active_since
    ), lock_row AS (
      INSERT INTO monitor_counters (monitor_id) SELECT id FROM added
    )
    INSERT INTO monitor_versions (monitor_id, version, since, rule)
    SELECT id, version, active_since, ${ruleOf(monitor)} FROM added`;
}

/**
 * Takes the monitor's lock until the transaction ends, if the monitor belongs to the account (which never changes).
 * Anything read before the lock may be stale: read the monitor again.
 */
export async function lockMonitor(db: Queryable, accountId: string, id: string): Promise<void> {
  await execute(db)`
    SELECT FROM monitor_counters c
    WHERE c.monitor_id = ${id} AND EXISTS (SELECT FROM monitors m WHERE m.id = ${id} AND m.account_id = ${accountId})
    FOR UPDATE OF c`;
}

const MONITORS = sql`
  SELECT m.id, m.name, m.keywords, m.exclude, m.subreddits, m.posts, m.comments, m.nsfw, m.refinements,
         m.thread_once AS "threadOnce", m.webhook_url AS "webhookUrl", m.webhook_kind AS "webhookKind",
         m.spike_webhook AS "spikeWebhook", m.digest, m.notify, m.notify_stopped AS "notifyStopped", m.status, m.version, m.period_no AS "periodNo",
         m.next_charge_at AS "nextChargeAt", m.created_at AS "createdAt", m.updated_at AS "updatedAt",
         coalesce(h.webhook_failing, false) AS "webhookFailing", c.last_match_at AS "lastMatchAt", c.last_seq AS "lastSeq"
  FROM monitors m
  LEFT JOIN monitor_counters c ON c.monitor_id = m.id
  LEFT JOIN monitor_health h ON h.monitor_id = m.id`;

/** An account's monitor in any state, deleted too; undefined when another account owns it. */
export async function readMonitor(db: Queryable, accountId: string, id: string): Promise<StoredMonitor | undefined> {
  return readRow<StoredMonitor>(db, 'read-monitor')`
    ${MONITORS}
    WHERE m.id = ${id} AND m.account_id = ${accountId}`;
}

/**
 * Returns the seq of the last match of an account's monitor, 0 before the first; undefined when the account has no such
 * monitor or has deleted it. Half the cost of readMonitor.
 */
export async function readLastSeqOf(db: Queryable, accountId: string, id: string): Promise<number | undefined> {
  const row = await readRow<{ lastSeq: number }>(db, 'read-last-seq-of')`
    SELECT coalesce(c.last_seq, 0) AS "lastSeq"
    FROM monitors m
    LEFT JOIN monitor_counters c ON c.monitor_id = m.id
    WHERE m.id = ${id} AND m.account_id = ${accountId} AND m.status <> 'deleted'`;
  return row?.lastSeq;
}

/** Without deleted ones, oldest first. The plan limits their number. */
export async function listMonitors(db: Queryable, accountId: string): Promise<StoredMonitor[]> {
  return readRows<StoredMonitor>(db)`
    ${MONITORS}
    WHERE m.account_id = ${accountId} AND m.status <> 'deleted'
    ORDER BY m.created_at, m.id`;
}

/** Without deleted ones. Exact when the caller holds the account's lock. */
export async function countMonitors(db: Queryable, accountId: string): Promise<number> {
  const { count } = await readOne<{ count: number }>(db)`
    SELECT count(*) AS count FROM monitors WHERE account_id = ${accountId} AND status <> 'deleted'`;
  return count;
}

/** Requires the monitor's lock. */
export async function updateMonitorSettings(
  db: Queryable,
  id: string,
  settings: MonitorSettings & { version: number },
): Promise<void> {
  await execute(db)`
    UPDATE monitors
    SET name = ${settings.name}, keywords = ${settings.keywords}, exclude = ${settings.exclude},
      subreddits = ${settings.subreddits}, posts = ${settings.posts}, comments = ${settings.comments},
      nsfw = ${settings.nsfw}, refinements = ${settings.refinements}, thread_once = ${settings.threadOnce},
      webhook_url = ${settings.webhookUrl}, webhook_kind = ${settings.webhookKind}, version = ${settings.version},
      spike_webhook = ${settings.spikeWebhook}, digest = ${settings.digest}, notify = ${settings.notify},
      notify_stopped = CASE WHEN notify IS NOT DISTINCT FROM ${settings.notify} THEN notify_stopped END,
      updated_at = service_now()
    WHERE id = ${id}`;
}

/** The rules of earlier versions are forgotten, so that nobody fills the disk by changing rules. */
const KEPT_RULES = 50;

/** Records that a rule version begins now. Requires the monitor's lock: `since` must be read after the wait for it. */
export async function insertMonitorVersion(db: Queryable, id: string, version: number, rule: Rule): Promise<void> {
  await execute(db)`
    WITH forgotten AS (
      UPDATE monitor_versions SET rule = NULL WHERE monitor_id = ${id} AND version = ${version}::integer - ${KEPT_RULES}
    )
    INSERT INTO monitor_versions (monitor_id, version, since, rule) VALUES (${id}, ${version}, wall_now(), ${rule})`;
}

/**
 * The most changes of a rule in 24 hours. Each one is kept for 30 days, and the matchers read the times of the last
 * ones whenever the rule changes.
 */
export const RULE_VERSIONS_PER_DAY = 1_000;

/** Seconds until a monitor's rule may change again; 0: now. Requires the monitor's lock. @param version of its rule */
export async function secondsUntilRuleChange(db: Queryable, id: string, version: number): Promise<number> {
  const rows = await readRows<{ seconds: number }>(db)`
    SELECT ceil(extract(epoch FROM since + interval '24 hours' - wall_now()))::integer AS seconds
    FROM monitor_versions
    WHERE monitor_id = ${id} AND version = ${version - RULE_VERSIONS_PER_DAY}
      AND since > wall_now() - interval '24 hours'`;
  return rows[0]?.seconds ?? 0;
}

/** Requires the monitor's lock. */
export async function clearMonitorHealth(db: Queryable, id: string): Promise<void> {
  await execute(db)`UPDATE monitor_health SET failures = 0, webhook_failing = false WHERE monitor_id = ${id}`;
}

/** Requires the monitor's lock. */
export async function stopMonitor(db: Queryable, id: string, status: 'paused' | 'deleted'): Promise<void> {
  await execute(db)`UPDATE monitors SET status = ${status}, updated_at = service_now() WHERE id = ${id}`;
}

/** Starts a stopped monitor in a new period. Requires the monitor's lock; call it in the transaction that charges. */
export async function startMonitorPeriod(db: Queryable, id: string, periodNo: number): Promise<void> {
  await execute(db)`
    UPDATE monitors
    SET status = 'active', period_no = ${periodNo}, active_since = wall_now(),
        next_charge_at = service_now() + interval '24 hours', updated_at = service_now()
    WHERE id = ${id}`;
}

/** Notifies the matchers, at commit, that a monitor's state or rule changed. */
export async function announceMonitorChange(db: Queryable, id: string): Promise<void> {
  await execute(db)`SELECT pg_notify(${MONITOR_CHANGED_CHANNEL}, ${id})`;
}

export interface StoppedMonitor {
  id: string;
  status: 'paused' | 'paused_balance' | 'deleted';
}

/** Stops locked monitors and notifies the matchers at commit. */
export async function stopMonitors(db: Queryable, stopped: readonly StoppedMonitor[]): Promise<void> {
  await execute(db)`
    WITH stopped AS (
      UPDATE monitors m SET status = asked.status, updated_at = service_now()
      FROM unnest(${stopped.map(({ id }) => id)}::text[], ${stopped.map(({ status }) => status)}::text[])
        AS asked (id, status)
      WHERE m.id = asked.id
      RETURNING m.id
    )
    SELECT pg_notify(${MONITOR_CHANGED_CHANNEL}, id) FROM stopped`;
}

export interface MonitorWebhook {
  name: string;
  /** The first keyword, or the text of the first term when there are no keywords. */
  firstTerm: string;
  webhookUrl: string | null;
  webhookKind: WebhookKind | null;
  /** Encrypted. `previousSecret`: the secret before a rotation while it is still valid. */
  webhookSecret: Buffer;
  previousSecret: Buffer | null;
}

/** undefined when the account has no such monitor or it is deleted. */
export async function readMonitorWebhook(
  db: Queryable,
  accountId: string,
  id: string,
): Promise<MonitorWebhook | undefined> {
  return readRow<MonitorWebhook>(db)`
    SELECT name, coalesce(keywords[1], refinements #>> '{terms,0,text}', '') AS "firstTerm",
      webhook_url AS "webhookUrl", webhook_kind AS "webhookKind", webhook_secret AS "webhookSecret",
      CASE WHEN previous_secret_until > (SELECT service_now()) THEN previous_webhook_secret END AS "previousSecret"
    FROM monitors
    WHERE id = ${id} AND account_id = ${accountId} AND status <> 'deleted'`;
}

/** Replaces the secret. The previous one stays valid for 24 hours. Requires the monitor's lock. */
export async function rotateWebhookSecret(db: Queryable, id: string, sealedSecret: Buffer): Promise<void> {
  await execute(db)`
    UPDATE monitors
    SET previous_webhook_secret = webhook_secret, previous_secret_until = service_now() + interval '24 hours',
      webhook_secret = ${sealedSecret}, updated_at = service_now()
    WHERE id = ${id}`;
}

export interface StoredMonitorStats {
  matchesToday: number;
  suppressedToday: number;
  suppressedNotStored: number;
  matches7d: number;
  deliveryFailures24h: number;
}

/** Matches come from the daily counters; failed attempts are counted by an index. */
export async function readMonitorStats(db: Queryable, monitorId: string): Promise<StoredMonitorStats> {
  return readOne<StoredMonitorStats>(db)`
    WITH today AS (SELECT ((SELECT service_now()) AT TIME ZONE 'UTC')::date AS day)
    SELECT coalesce(sum(d.matches) FILTER (WHERE d.day >= today.day), 0) AS "matchesToday",
           coalesce(sum(d.suppressed) FILTER (WHERE d.day >= today.day), 0) AS "suppressedToday",
           coalesce(sum(d.suppressed_not_stored) FILTER (WHERE d.day >= today.day), 0)::bigint AS "suppressedNotStored",
           coalesce(sum(d.matches), 0) AS "matches7d",
           (SELECT count(*)
            FROM delivery_attempts a
            WHERE a.monitor_id = ${monitorId} AND a.delivery_status = 'failed'
              AND a.started_at > (SELECT service_now()) - interval '24 hours') AS "deliveryFailures24h"
    FROM today
    LEFT JOIN monitor_days d ON d.monitor_id = ${monitorId} AND d.day > today.day - 7`;
}

export interface StoredMute {
  id: string;
  kind: MuteKind;
  /** A name in lower case without prefix, or the id of a post with t3_. */
  value: string;
  createdAt: Date;
}

/** Oldest first. Their number is limited. */
export async function listMutes(db: Queryable, monitorId: string): Promise<StoredMute[]> {
  return readRows<StoredMute>(db)`
    SELECT id, kind, value,
      created_at AS "createdAt" FROM monitor_mutes WHERE monitor_id = ${monitorId} ORDER BY created_at, id`;
}

/** Requires the monitor's lock, and that there is no equal mute. */
export async function insertMute(
  db: Queryable,
  monitorId: string,
  { id, kind, value }: Omit<StoredMute, 'createdAt'>,
): Promise<StoredMute> {
  return readOne<StoredMute>(db)`
    INSERT INTO monitor_mutes (id, monitor_id, kind, value) VALUES (${id}, ${monitorId}, ${kind}, ${value})
    RETURNING id, kind, value, created_at AS "createdAt"`;
}

/** Returns false when the monitor has no such mute. Requires the monitor's lock. */
export async function deleteMute(db: Queryable, monitorId: string, id: string): Promise<boolean> {
  return isChanged(db)`DELETE FROM monitor_mutes WHERE monitor_id = ${monitorId} AND id = ${id}`;
}

/** A mute to look up. */
export interface MuteKey {
  monitorId: string;
  kind: 'subreddit' | 'author' | 'thread';
  /** As it is stored: a name in lower case, a post's id with t3_. */
  value: string;
}

/**
 * Finds which of the given mutes exist. Run it after the monitors' lock: whoever adds or deletes a mute takes the lock
 * first.
 */
export async function findMutes(db: Queryable, asked: readonly MuteKey[]): Promise<MuteKey[]> {
  // LIMIT keeps it at a probe of the primary key for each, however many mutes there are.
  return readRows<MuteKey>(db, 'recording-find-mutes')`
    SELECT asked.monitor_id AS "monitorId", asked.kind, asked.value
    FROM unnest(${asked.map(({ monitorId }) => monitorId)}::text[], ${asked.map(({ kind }) => kind)}::text[],
      ${asked.map(({ value }) => value)}::text[]) AS asked (monitor_id, kind, value)
    CROSS JOIN LATERAL (
      SELECT FROM monitor_mutes u
      WHERE u.monitor_id = asked.monitor_id AND u.kind = asked.kind AND u.value = asked.value
      LIMIT 1
    ) AS mute`;
}
