import type { z } from 'zod';
import type { createMonitorBody, Monitor } from '../../../schemas/api/monitors.ts';
import { lockAccount } from '../../../shared/accounts/accounts.ts';
import type { StoredAccount } from '../../../shared/accounts/accounts.ts';
import { charge } from '../../../shared/billing/ledger.ts';
import { MONITOR_PERIOD_CREDITS, periodReference, planOf } from '../../../shared/billing/rules/plans.ts';
import { newWebhookSecret } from '../../../shared/deliveries/rules/webhook-signature.ts';
import { announceMonitorChange, countMonitors, insertMonitor, readMonitor } from '../../../shared/monitors/monitors.ts';
import type { MonitorSettings } from '../../../shared/monitors/monitors.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import { newMonitorId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { accountFrozen } from '../admission/caller.ts';
import { ApiError, invalidRequest, refuseFaults } from '../http/api-error.ts';
import { chargedRequest } from '../http/route.ts';
import type { RouteRequest } from '../http/route.ts';
import { checkNewRule, digestFaults, spikeFaults } from './check-rule.ts';
import type { MonitorDeps } from './find-monitor.ts';
import { monitorResource } from './monitor-resource.ts';
import { changedWebhook, checkWebhookUrl, writtenUrlFaults } from './webhook-settings.ts';

/** Period 1 starts with the monitor; resumes and renewals add periods. */
const FIRST_PERIOD = 1;
/** Of a new monitor's rule. */
export const FIRST_VERSION = 1;

export interface CreatedMonitor {
  monitor: Monitor;
  /** Shown only in this answer. */
  webhookSecret: string;
  /** Credits of the account afterwards. */
  balance: number;
}

/**
 * Validates the settings of a new monitor. Resolves the webhook's host, so call it outside of transactions. For a
 * caller who cannot pay, by the balance read with the key, no other system is asked.
 *
 * @throws ApiError invalid_request, monitor_limit_reached, insufficient_credits
 */
export async function checkedSettings(
  deps: MonitorDeps,
  caller: RouteRequest['caller'],
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
  const { thread_once: threadOnce, spike_webhook: spikeWebhook, digest } = given;
  const options = { threadOnce: threadOnce ?? false, spikeWebhook: spikeWebhook ?? false, digest: digest ?? null };
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
  call: Pick<RouteRequest, 'caller' | 'requestId'>,
  settings: MonitorSettings,
): Promise<CreatedMonitor> {
  const { accountId } = call.caller;
  const id = newMonitorId();
  const webhookSecret = newWebhookSecret();
  const sealedSecret = secretBox.seal(webhookSecret, id);
  // The account's lock comes first: concurrent creates of an account wait for each other, so the count is exact and
  // active_since is later than the lock.
  const account = await lockActiveAccount(client, accountId);
  refuseFaults(digestFaults(settings, account.email));
  await refuseBeyondLimit(client, account);
  const balance = await payFirstPeriod(client, call, id);
  await insertMonitor(client, { ...settings, id, accountId, sealedSecret });
  await announceMonitorChange(client, id);
  const stored = await readMonitor(client, accountId, id);
  if (!stored) throw new Error(`monitor ${id} was not found after its insert`);
  return { monitor: monitorResource(stored), webhookSecret, balance };
}

async function lockActiveAccount(db: Queryable, accountId: string): Promise<StoredAccount> {
  const account = await lockAccount(db, accountId);
  if (account?.status === 'frozen') throw accountFrozen();
  if (account?.status !== 'active') throw new ApiError('unauthorized', 'The account is not active any more.');
  return account;
}

async function refuseBeyondLimit(db: Queryable, { id, pack }: Pick<StoredAccount, 'id' | 'pack'>): Promise<void> {
  const limit = planOf(pack).monitors;
  const used = await countMonitors(db, id);
  if (used < limit) return;
  const message = `The account has ${used} of the ${limit} monitors it may have; delete one, or get a larger pack.`;
  throw new ApiError('monitor_limit_reached', message);
}

async function payFirstPeriod(
  db: Queryable,
  call: Pick<RouteRequest, 'caller' | 'requestId'>,
  monitorId: string,
): Promise<number> {
  const balance = await charge(db, {
    accountId: call.caller.accountId,
    kind: 'monitor_create',
    credits: MONITOR_PERIOD_CREDITS,
    reference: periodReference(monitorId, FIRST_PERIOD),
    request: chargedRequest(call, { method: 'post', path: '/v1/monitors' }),
  });
  if (balance === undefined) throw insufficientCredits();
  return balance;
}

function insufficientCredits(): ApiError {
  return new ApiError('insufficient_credits', `Creating a monitor costs ${MONITOR_PERIOD_CREDITS} credits.`);
}
