import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { patchMonitorBody } from '../../../schemas/api/monitors.ts';
import type { createMonitorBody, Monitor } from '../../../schemas/api/monitors.ts';
import { findAccount, lockAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { startPaidPeriod } from '../../../shared/billing/renewals.ts';
import { MONITOR_PERIOD_CREDITS, periodReference, planOf } from '../../../shared/billing/rules/plans.ts';
import { skipUndeliverable } from '../../../shared/deliveries/pending-deliveries.ts';
import { skipUndeliverableEvents } from '../../../shared/deliveries/event-deliveries.ts';
import { newWebhookSecret } from '../../../shared/deliveries/rules/webhook-message.ts';
import { deleteFeedToken } from '../../../shared/matches/feed-tokens.ts';
import { validateTermCount } from '../../../shared/matching/validate-rule.ts';
import {
  announceMonitorChange,
  clearMonitorHealth,
  countMonitors,
  insertMonitor,
  insertMonitorVersion,
  lockMonitor,
  readMonitor,
  RULE_VERSIONS_PER_DAY,
  ruleOf,
  secondsUntilRuleChange,
  stopMonitor,
  updateMonitorSettings,
} from '../../../shared/monitors/monitors.ts';
import type { MonitorSettings, StoredMonitor } from '../../../shared/monitors/monitors.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { isMonitorId, newMonitorId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { accountFrozen } from '../admission/caller.ts';
import type { Caller } from '../admission/caller.ts';
import { ApiError, invalidRequest, noSuchMonitor, refuseFaults } from '../http/api-error.ts';
import { chargedRequest } from '../http/route.ts';
import type { ChargingRequest } from '../http/route.ts';
import {
  changedRefinements,
  changedWebhook,
  checkNewRule,
  checkRule,
  checkWebhookUrl,
  mailFaults,
  spikeFaults,
  writtenUrlFaults,
} from './check-settings.ts';
import type { CheckedRule, RefinementsChange, Webhook, WebhookChange } from './check-settings.ts';
import { findAndLockMonitor, findMonitor, monitorResource } from './find-monitor.ts';
import type { MonitorDeps } from './find-monitor.ts';

// active ── pause ──▶ paused ── resume (10 credits) ──▶ active
// active ── renewal without credits (biller) ──▶ paused_balance ── resume (10 credits) ──▶ active; ── pause ──▶ paused
// any of them ── delete ──▶ deleted, for good
// Matching and charging stop when a pause or delete commits; the day already paid for is not refunded.

/** Period 1 starts with the monitor; resumes and renewals add periods. */
const FIRST_PERIOD = 1;
/** Of a new monitor's rule. */
export const FIRST_VERSION = 1;

export interface CreatedMonitor {
  monitor: Monitor;
  /** Shown only in this response. */
  webhookSecret: string;
  /** Credits of the account afterwards. */
  balance: number;
}

/**
 * Validates the settings of a new monitor. Resolves the webhook's host, so call it outside of transactions. For a
 * caller whose balance is too low, no other system is asked.
 *
 * @throws ApiError invalid_request, monitor_limit_reached, insufficient_credits
 */
export async function checkedSettings(
  deps: MonitorDeps,
  caller: Caller,
  body: z.output<typeof createMonitorBody>,
): Promise<MonitorSettings> {
  const canPay = caller.balance >= MONITOR_PERIOD_CREDITS;
  const { name, posts, comments, nsfw, ...given } = body;
  const { rule, faults } = checkNewRule(given);
  if (given.webhook_url === '') faults.push({ field: 'webhook_url', message: 'must not be empty' });
  const urlFaults = canPay
    ? await checkWebhookUrl(given.webhook_url, deps.webhooks)
    : writtenUrlFaults(given.webhook_url, deps.webhooks);
  refuseFaults([...faults, ...urlFaults]);
  const changed = changedWebhook({ webhookUrl: null, webhookKind: null }, given);
  if ('fault' in changed) throw invalidRequest([changed.fault]);
  refuseFaults(spikeFaults(given.spike_webhook === true, changed.webhook));
  if (!canPay) {
    await refuseBeyondLimit(deps.pool, { id: caller.accountId, pack: caller.pack });
    throw insufficientCredits();
  }
  const { thread_once: threadOnce = null, spike_webhook: spikeWebhook = null, digest = null, notify = null } = given;
  const options = { threadOnce: threadOnce ?? false, spikeWebhook: spikeWebhook ?? false, digest, notify };
  return { name, ...rule, posts, comments, nsfw, ...options, ...changed.webhook };
}

/**
 * Creates a running monitor and charges its first day in the transaction of `client`, both or neither.
 *
 * @throws ApiError invalid_request, monitor_limit_reached, insufficient_credits; roll the transaction back then
 */
export async function createMonitor(
  client: Queryable,
  secretBox: SecretBox,
  request: ChargingRequest,
  settings: MonitorSettings,
): Promise<CreatedMonitor> {
  const { accountId } = request.caller;
  const id = newMonitorId();
  const webhookSecret = newWebhookSecret();
  const sealedSecret = secretBox.seal(webhookSecret, id);
  // The account's lock comes first: concurrent creates of an account wait for each other, so the count is exact and
  // active_since is later than the lock.
  const account = await lockActiveAccount(client, accountId);
  refuseFaults(mailFaults(settings, account.email));
  await refuseBeyondLimit(client, account);
  const balance = await payFirstPeriod(client, request, id);
  await insertMonitor(client, { ...settings, id, accountId, sealedSecret });
  await announceMonitorChange(client, id);
  const stored = await readMonitor(client, accountId, id);
  if (!stored) throw new Error(`monitor ${id} was not found after its insert`);
  return { monitor: monitorResource(stored), webhookSecret, balance };
}

async function lockActiveAccount(db: Queryable, accountId: string): Promise<StoredAccount> {
  const account = await lockAccount(db, accountId);
  if (account?.status === 'frozen') throw accountFrozen();
  if (account?.status !== 'active') throw new ApiError('unauthorized', 'The account is no longer active.');
  return account;
}

async function refuseBeyondLimit(db: Queryable, { id, pack }: Pick<StoredAccount, 'id' | 'pack'>): Promise<void> {
  const limit = planOf(pack).monitors;
  const used = await countMonitors(db, id);
  if (used < limit) return;
  const message = `The account has ${used} of the ${limit} monitors that its plan allows. Delete one, or buy a larger pack.`;
  throw new ApiError('monitor_limit_reached', message);
}

async function payFirstPeriod(db: Queryable, request: ChargingRequest, monitorId: string): Promise<number> {
  const balance = await charge(db, {
    accountId: request.caller.accountId,
    kind: 'monitor_create',
    credits: MONITOR_PERIOD_CREDITS,
    reference: periodReference(monitorId, FIRST_PERIOD),
    request: chargedRequest(request),
  });
  if (balance === undefined) throw insufficientCredits();
  return balance;
}

function insufficientCredits(): ApiError {
  return new ApiError('insufficient_credits', `Creating a monitor costs ${MONITOR_PERIOD_CREDITS} credits.`);
}

/** The fields that decide whether an item matches: changing any of them starts a new version of the rule. */
const RULE_FIELDS = ['keywords', 'exclude', 'subreddits', 'posts', 'comments', 'nsfw', 'refinements'] as const;
/** `threadOnce` and `digest` are read when a match is recorded, under the monitor's lock. */
const OTHER_FIELDS = ['name', 'threadOnce', 'webhookUrl', 'webhookKind', 'spikeWebhook', 'digest', 'notify'] as const;

type PlainSettings = Omit<MonitorSettings, keyof Webhook | 'refinements'>;
type MonitorChange = Partial<PlainSettings> & { refinements: RefinementsChange; webhook: WebhookChange };

/**
 * Changes the fields that a client named, in every state except deleted. Items that enter after the response are
 * matched by the new rule only. A request that changes nothing starts no version.
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
    if (differs(current, settings, ['digest', 'notify', 'webhookUrl']))
      await refuseUndeliverableMails(client, accountId, settings);
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
async function refuseUndeliverableMails(db: Queryable, accountId: string, settings: MonitorSettings): Promise<void> {
  const account = await findAccount(db, accountId);
  if (!account) throw noSuchMonitor();
  refuseFaults(mailFaults(settings, account.email));
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
  const { name, posts, comments, nsfw, digest, notify, webhook_url, webhook_kind } = given;
  const threadOnce = given.thread_once === null ? false : given.thread_once;
  const spikeWebhook = given.spike_webhook === null ? false : given.spike_webhook;
  const plain = { name, posts, comments, nsfw, threadOnce, spikeWebhook, digest, notify, ...lists };
  return { ...definedOnly(plain), refinements, webhook: { webhook_url, webhook_kind } };
}

/** Whether terms may stand for the keywords of a request that removes them. Checked again under the monitor's lock. */
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
  const { threadOnce, spikeWebhook, digest, notify } = options;
  const refinements = changedRefinements(current.refinements, conditions);
  refuseFaults(validateTermCount(keywords, refinements?.terms ?? []));
  const rule = { keywords, exclude, subreddits, posts, comments, nsfw, refinements };
  // Without a webhook no spikes are sent, so the monitor must not claim that they are.
  const kept = { threadOnce, spikeWebhook: spikeWebhook && changed.webhook.webhookUrl !== null, digest, notify };
  return { name, ...rule, ...kept, ...changed.webhook };
}

/** Follows the lock order: the caller holds the monitor's lock; then monitors, health and the new version. */
async function applyChange(db: Queryable, current: StoredMonitor, settings: MonitorSettings): Promise<void> {
  const isNewRule = differs(current, settings, RULE_FIELDS);
  if (isNewRule) await refuseFrequentChange(db, current);
  const version = isNewRule ? current.version + 1 : current.version;
  await updateMonitorSettings(db, current.id, { ...settings, version });
  if (settings.webhookUrl !== current.webhookUrl) await clearMonitorHealth(db, current.id);
  if (settings.webhookUrl === null && current.webhookUrl !== null) await skipWaiting(db, current.id);
  if (!isNewRule) return;
  await insertMonitorVersion(db, current.id, version, ruleOf(settings));
  await announceMonitorChange(db, current.id);
}

/** Skips what waits for a removed webhook: one that is added later must get only what comes after it. */
async function skipWaiting(db: Queryable, id: string): Promise<void> {
  while (await skipUndeliverable(db, id));
  await skipUndeliverableEvents(db, id);
}

/** @throws ApiError rate_limited */
async function refuseFrequentChange(db: Queryable, { id, version }: StoredMonitor): Promise<void> {
  const retryAfter = await secondsUntilRuleChange(db, id, version);
  if (retryAfter === 0) return;
  const message = `The rule changed ${RULE_VERSIONS_PER_DAY} times in the last 24 hours, which is the limit. Try again later.`;
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

/** Pauses a monitor; repeating it changes nothing. @throws ApiError not_found */
export async function pauseMonitor(pool: Pool, accountId: string, id: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const current = await findAndLockMonitor(client, accountId, id);
    if (current.status === 'paused') return;
    await stopMonitor(client, id, 'paused');
    await announceMonitorChange(client, id);
  });
}

/**
 * Deletes a monitor for good, but softly: its matches stay until their retention ends. Repeating it is harmless.
 *
 * @throws ApiError not_found
 */
export async function deleteMonitor(pool: Pool, accountId: string, id: string): Promise<void> {
  if (!isMonitorId(id)) throw noSuchMonitor();
  await inTransaction(pool, async (client) => {
    // The lock row of a monitor deleted long ago may have been removed with its matches; then there is nothing to do.
    await lockMonitor(client, accountId, id);
    const current = await readMonitor(client, accountId, id);
    if (!current) throw noSuchMonitor();
    if (current.status === 'deleted') return;
    await stopMonitor(client, id, 'deleted');
    await deleteFeedToken(client, id);
    await announceMonitorChange(client, id);
  });
}

export interface ResumedMonitor {
  monitor: Monitor;
  /** undefined: the monitor was already running and nothing was charged. */
  balance: number | undefined;
}

/**
 * Starts a stopped monitor and charges its next 24 hours in the transaction of `client`, both or neither. A running
 * monitor stays unchanged.
 *
 * @throws ApiError not_found, insufficient_credits, unauthorized; roll the transaction back then
 */
export async function resumeMonitor(client: Queryable, request: ChargingRequest, id: string): Promise<ResumedMonitor> {
  const { accountId } = request.caller;
  const current = await findAndLockMonitor(client, accountId, id);
  if (current.status === 'active') return { monitor: monitorResource(current), balance: undefined };
  const balance = await payAndStart(client, request, current);
  await announceMonitorChange(client, id);
  return { monitor: monitorResource(await findMonitor(client, accountId, id)), balance };
}

async function payAndStart(db: Queryable, request: ChargingRequest, current: StoredMonitor): Promise<number> {
  const { accountId } = request.caller;
  const balance = await startPaidPeriod(db, accountId, current, chargedRequest(request));
  if (balance === undefined) {
    const account = await findAccount(db, accountId);
    if (account?.status === 'frozen') throw accountFrozen();
    if (account?.status !== 'active') throw new ApiError('unauthorized', 'The account is no longer active.');
    throw new ApiError('insufficient_credits', `Resuming a monitor costs ${MONITOR_PERIOD_CREDITS} credits.`);
  }
  return balance;
}
