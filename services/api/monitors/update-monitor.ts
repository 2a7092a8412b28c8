import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { patchMonitorBody } from '../../../schemas/api/monitors.ts';
import { findAccount } from '../../../shared/accounts/accounts.ts';
import { skipUndeliverable } from '../../../shared/deliveries/deliveries.ts';
import { skipUndeliverableEvents } from '../../../shared/deliveries/event-deliveries.ts';
import { validateTermCount } from '../../../shared/matching/validate-rule.ts';
import {
  announceMonitorChange,
  clearMonitorHealth,
  insertMonitorVersion,
  readMonitor,
  RULE_VERSIONS_PER_DAY,
  ruleOf,
  secondsUntilRuleChange,
  updateMonitorSettings,
} from '../../../shared/monitors/monitors.ts';
import type { MonitorSettings, StoredMonitor } from '../../../shared/monitors/monitors.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { isMonitorId } from '../../../shared/rules/identifiers.ts';
import { ApiError, invalidRequest, noSuchMonitor, refuseFaults } from '../http/api-error.ts';
import { changedRefinements, checkRule, digestFaults, spikeFaults } from './check-rule.ts';
import type { CheckedRule, RefinementsChange } from './check-rule.ts';
import { findAndLockMonitor } from './find-monitor.ts';
import type { MonitorDeps } from './find-monitor.ts';
import { changedWebhook, checkWebhookUrl } from './webhook-settings.ts';
import type { Webhook, WebhookChange } from './webhook-settings.ts';

/** The fields that decide whether an item matches: changing any of them starts a new version of the rule. */
const RULE_FIELDS = ['keywords', 'exclude', 'subreddits', 'posts', 'comments', 'nsfw', 'refinements'] as const;
/** `threadOnce` and `digest` are read when a match is recorded, under the monitor's lock. */
const OTHER_FIELDS = ['name', 'threadOnce', 'webhookUrl', 'webhookKind', 'spikeWebhook', 'digest'] as const;

type PlainSettings = Omit<MonitorSettings, keyof Webhook | 'refinements'>;
type MonitorChange = Partial<PlainSettings> & { refinements: RefinementsChange; webhook: WebhookChange };

/**
 * Changes the fields that a client named, in every state except deleted. Items that enter after the answer are matched
 * by the new rule only. A request that changes nothing starts no version.
 *
 * @throws ApiError invalid_request, not_found, rate_limited; nothing is changed then
 */
export async function updateMonitor(
  deps: MonitorDeps,
  accountId: string,
  id: string,
  given: GivenChange,
): Promise<StoredMonitor> {
  const change = await checkedChange(deps, accountId, id, given);
  return inTransaction(deps.pool, async (client) => {
    const current = await findAndLockMonitor(client, accountId, id);
    const settings = changedSettings(current, change);
    refuseFaults(spikeFaults(change.spikeWebhook === true, settings));
    if (!differs(current, settings, [...RULE_FIELDS, ...OTHER_FIELDS])) return current;
    if (differs(current, settings, ['digest', 'webhookUrl'])) await refuseUnsentDigest(client, accountId, settings);
    await applyChange(client, current, settings);
    const changed = await readMonitor(client, accountId, id);
    if (!changed) throw noSuchMonitor();
    return changed;
  });
}

/**
 * The settings that a monitor would have after a change. Nothing is stored, and the webhook does not count.
 *
 * @throws ApiError invalid_request
 */
export function settingsAfter(current: StoredMonitor, given: GivenChange): MonitorSettings {
  const mayBeTerms = given.terms !== undefined || current.refinements?.terms !== undefined;
  const { rule, faults } = checkRule(given, mayBeTerms);
  refuseFaults(faults);
  return changedSettings(current, changeOf({ ...given, webhook_url: undefined, webhook_kind: undefined }, rule));
}

type GivenChange = z.output<typeof patchMonitorBody>;

/** @throws ApiError invalid_request */
async function refuseUnsentDigest(db: Queryable, accountId: string, settings: MonitorSettings): Promise<void> {
  const account = await findAccount(db, accountId);
  if (!account) throw noSuchMonitor();
  refuseFaults(digestFaults(settings, account.email));
}

async function checkedChange(
  deps: MonitorDeps,
  accountId: string,
  id: string,
  given: GivenChange,
): Promise<MonitorChange> {
  const { rule, faults } = checkRule(given, await mayHaveTerms(deps.pool, accountId, id, given));
  refuseFaults([...faults, ...(await checkWebhookUrl(given.webhook_url, deps.webhooks))]);
  return changeOf(given, rule);
}

function changeOf(given: GivenChange, { refinements, ...lists }: CheckedRule): MonitorChange {
  const { name, posts, comments, nsfw, digest, webhook_url, webhook_kind } = given;
  const threadOnce = given.thread_once === null ? false : given.thread_once;
  const spikeWebhook = given.spike_webhook === null ? false : given.spike_webhook;
  const plain = { name, posts, comments, nsfw, threadOnce, spikeWebhook, digest, ...lists };
  return { ...definedOnly(plain), refinements, webhook: { webhook_url, webhook_kind } };
}

/** Only a request without keywords needs to know. It is checked again under the monitor's lock. */
async function mayHaveTerms(
  pool: Pool,
  accountId: string,
  id: string,
  { keywords, terms }: { keywords?: string[] | undefined; terms?: unknown[] | null | undefined },
): Promise<boolean> {
  if (keywords?.length !== 0) return false;
  if (terms !== undefined) return true;
  const stored = isMonitorId(id) ? await readMonitor(pool, accountId, id) : undefined;
  return stored?.refinements?.terms !== undefined;
}

/** @throws ApiError invalid_request when the settings after the change are beyond a limit or contradict each other */
function changedSettings(
  current: StoredMonitor,
  { refinements: conditions, webhook, ...plain }: MonitorChange,
): MonitorSettings {
  const changed = changedWebhook(current, webhook);
  if ('fault' in changed) throw invalidRequest([changed.fault]);
  const { name, keywords, exclude, subreddits, posts, comments, nsfw, ...options } = { ...current, ...plain };
  const { threadOnce, spikeWebhook, digest } = options;
  const refinements = changedRefinements(current.refinements, conditions);
  refuseFaults(validateTermCount(keywords, refinements?.terms ?? []));
  const rule = { keywords, exclude, subreddits, posts, comments, nsfw, refinements };
  // Without the webhook nothing is told of spikes, and the monitor does not look as if it were.
  const kept = { threadOnce, spikeWebhook: spikeWebhook && changed.webhook.webhookUrl !== null, digest };
  return { name, ...rule, ...kept, ...changed.webhook };
}

/** Follows the lock order: the caller holds the monitor's lock; then monitors, health and the new version. */
async function applyChange(db: Queryable, current: StoredMonitor, settings: MonitorSettings): Promise<void> {
  const isNewRule = differs(current, settings, RULE_FIELDS);
  if (isNewRule) await refuseConstantChange(db, current);
  const version = isNewRule ? current.version + 1 : current.version;
  await updateMonitorSettings(db, current.id, { ...settings, version });
  if (settings.webhookUrl !== current.webhookUrl) await clearMonitorHealth(db, current.id);
  if (settings.webhookUrl === null && current.webhookUrl !== null) await skipWaiting(db, current.id);
  if (!isNewRule) return;
  await insertMonitorVersion(db, current.id, version, ruleOf(settings));
  await announceMonitorChange(db, current.id);
}

/** What waits for a webhook that is removed is skipped at once: one that is added later gets only what comes then. */
async function skipWaiting(db: Queryable, id: string): Promise<void> {
  while (await skipUndeliverable(db, id));
  await skipUndeliverableEvents(db, id);
}

/** @throws ApiError rate_limited */
async function refuseConstantChange(db: Queryable, { id, version }: StoredMonitor): Promise<void> {
  const retryAfter = await secondsUntilRuleChange(db, id, version);
  if (retryAfter === 0) return;
  const message = `The rule changed ${RULE_VERSIONS_PER_DAY} times in the last 24 hours, the most it may change.`;
  throw new ApiError('rate_limited', message, { retryAfter });
}

function differs(a: MonitorSettings, b: MonitorSettings, fields: readonly (keyof MonitorSettings)[]): boolean {
  return fields.some((field) => !isDeepStrictEqual(a[field], b[field]));
}

/** Drops undefined members, which would overwrite values when spread. */
function definedOnly<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
