import { patchMonitorBody } from '../../../schemas/api/monitor.ts';
import type { Monitor } from '../../../schemas/api/monitor.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import {
  announceMonitorChange,
  clearMonitorHealth,
  insertMonitorVersion,
  readMonitor,
  updateMonitorSettings,
} from '../../../shared/stores/monitors/monitors.ts';
import type { MonitorSettings, StoredMonitor } from '../../../shared/stores/monitors/monitors.ts';
import { noSuchMonitor } from '../http/api-error.ts';
import { invalidRequest, parseRequest, refuseFaults } from '../http/invalid-request.ts';
import { findAndLockMonitor } from './find-monitor.ts';
import { monitorResource } from './monitor-resource.ts';
import type { MonitorDeps } from './monitor-deps.ts';
import { checkRule } from './check-rule.ts';
import { changedWebhook, checkWebhookUrl } from './webhook-settings.ts';
import type { Webhook, WebhookChange } from './webhook-settings.ts';

/** The fields that decide whether an item matches: changing any of them starts a new version of the rule. */
const RULE_FIELDS = ['keywords', 'exclude', 'subreddits', 'posts', 'comments', 'nsfw'] as const;
const OTHER_FIELDS = ['name', 'webhookUrl', 'webhookKind'] as const;

type MonitorChange = Partial<Omit<MonitorSettings, keyof Webhook>> & WebhookChange;

/**
 * Changes the fields that a client named, in every state except deleted. Items that enter after the answer are matched
 * by the new rule only. A request that changes nothing starts no version.
 *
 * @throws ApiError invalid_request, not_found; nothing is changed then
 */
export async function updateMonitor(deps: MonitorDeps, accountId: string, id: string, body: unknown): Promise<Monitor> {
  const change = await checkedChange(deps, body);
  return inTransaction(deps.pool, async (client) => {
    const current = await findAndLockMonitor(client, accountId, id);
    const settings = mergedSettings(current, change);
    if (!differs(current, settings, [...RULE_FIELDS, ...OTHER_FIELDS])) return monitorResource(current);
    await applyChange(client, current, settings);
    const changed = await readMonitor(client, accountId, id);
    if (!changed) throw noSuchMonitor();
    return monitorResource(changed);
  });
}

async function checkedChange(deps: MonitorDeps, body: unknown): Promise<MonitorChange> {
  const given = parseRequest(patchMonitorBody, body === undefined ? {} : body, 'body');
  const { terms, faults } = checkRule(given);
  refuseFaults([...faults, ...(await checkWebhookUrl(given.webhook_url, deps.webhooks))]);
  return definedOnly({ ...given, ...terms });
}

function mergedSettings(current: StoredMonitor, change: MonitorChange): MonitorSettings {
  const changed = changedWebhook(current, change);
  if ('fault' in changed) throw invalidRequest([changed.fault]);
  const { name, keywords, exclude, subreddits, posts, comments, nsfw } = { ...current, ...change };
  return { name, keywords, exclude, subreddits, posts, comments, nsfw, ...changed.webhook };
}

/** Follows the lock order: the caller holds the monitor's lock; then monitors, health and the new version. */
async function applyChange(db: Queryable, current: StoredMonitor, settings: MonitorSettings): Promise<void> {
  const isNewRule = differs(current, settings, RULE_FIELDS);
  const version = isNewRule ? current.version + 1 : current.version;
  await updateMonitorSettings(db, current.id, { ...settings, version });
  if (settings.webhookUrl !== current.webhookUrl) await clearMonitorHealth(db, current.id);
  if (!isNewRule) return;
  await insertMonitorVersion(db, current.id, version);
  await announceMonitorChange(db, current.id);
}

function differs(a: MonitorSettings, b: MonitorSettings, fields: readonly (keyof MonitorSettings)[]): boolean {
  return fields.some((field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]));
}

/** Drops undefined members, which would overwrite values when spread. */
function definedOnly<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
