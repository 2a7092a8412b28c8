import type { z } from 'zod';
import {
  deliveryLogPage,
  deliveryLogQuery,
  eventLogPage,
  eventLogQuery,
  redeliverBody,
  redelivery,
  testDelivery as testDeliverySchema,
} from '../../../schemas/api/deliveries.ts';
import type { Redelivery, TestDelivery } from '../../../schemas/api/deliveries.ts';
import { rotatedSecret } from '../../../schemas/api/monitors.ts';
import type { WebhookKind } from '../../../schemas/api/monitors.ts';
import { takeUse } from '../../../shared/accounts/sliding-log-limits.ts';
import { planOf } from '../../../shared/billing/rules/plans.ts';
import { isMonitorId, parseMatchId } from '../../../shared/rules/identifiers.ts';
import type { SecretBox } from '../../../shared/rules/secret-box.ts';
import { newWebhookSecret } from '../../../shared/deliveries/rules/webhook-message.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, PoolClient } from '../../../shared/postgres/pool.ts';
import {
  countResends,
  hasPending,
  hastenPending,
  queueResends,
  readResends,
} from '../../../shared/deliveries/resends.ts';
import type { ResendChoice } from '../../../shared/deliveries/resends.ts';
import { decideOutcome, WEBHOOK_DEADLINE_MS } from '../../../shared/deliveries/rules/delivery-outcome.ts';
import {
  buildWebhookMessage,
  sampleMatch,
  webhookRequestUrl,
} from '../../../shared/deliveries/rules/webhook-message.ts';
import type { WebhookMessage } from '../../../shared/deliveries/rules/webhook-message.ts';
import type { Caller } from '../admission/caller.ts';
import type { EgressClient, EgressResult } from '../../../shared/http/egress-client.ts';
import {
  clearMonitorHealth,
  lockMonitor,
  readMonitor,
  readMonitorWebhook,
  rotateWebhookSecret,
} from '../../../shared/monitors/monitors.ts';
import type { MonitorWebhook } from '../../../shared/monitors/monitors.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { ApiError, invalidRequest, noSuchMonitor, refuseFaults } from '../http/api-error.ts';
import { ok, route } from '../http/route.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { findAndLockMonitor, findMonitor, MONITOR_ID } from '../monitors/find-monitor.ts';
import { readDeliveryLog, readEventLogPage } from './delivery-log.ts';

export function webhookRoutes(deps: TestDeliveryDeps): Route[] {
  return [
    route({
      method: 'post',
      path: '/v1/monitors/:id/rotate-secret',
      scope: 'monitors:write',
      operationId: 'rotateSecret',
      tag: 'Monitors',
      summary: 'Rotate the webhook secret',
      description:
        'Returns a new secret, shown only once, which signs every attempt from now on in `X-Service-Signature`. For 24 hours, `X-Service-Signature-Previous` carries a signature of the same form made with the previous secret, and `webhook-signature` carries one signature per secret. A receiver that checks both headers accepts every delivery as long as it knows either secret. Only two secrets are valid at a time: give the receiver the new one before you rotate again.',
      params: { id: MONITOR_ID },
      isIdempotent: true,
      responses: [ok('The secret is rotated.', rotatedSecret)],
      handle: (request) => rotate(deps, request),
    }),
    route({
      method: 'post',
      path: '/v1/monitors/:id/test',
      scope: 'monitors:write',
      operationId: 'testWebhook',
      tag: 'Monitors',
      summary: 'Send a sample match',
      description:
        'Sends a sample match to the webhook, exactly like a real one, with the header `X-Service-Test: 1` and an id that begins with `test_`, and reports the response of the endpoint. A success clears `webhook_failing`; a failure does not affect it. At most five a minute per account.',
      params: { id: MONITOR_ID },
      responses: [ok('The outcome of the test.', testDeliverySchema)],
      async handle({ caller, id }) {
        return { status: 200, body: await testDelivery(deps, caller.accountId, id) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id/deliveries',
      scope: 'monitors:read',
      operationId: 'listDeliveries',
      tag: 'Monitors',
      summary: 'List delivery attempts',
      description:
        'Every attempt of the last 30 days with its outcome: newest match first, and within a match the last attempt first. With `status` or `since`, a page reads at most 2,000 attempts, so it may be empty and still have an `after`: continue until `after` is null.',
      params: { id: MONITOR_ID },
      query: deliveryLogQuery,
      example: { limit: 25 },
      responses: [ok('A page of attempts.', deliveryLogPage)],
      async handle({ caller, id, query }) {
        await findMonitor(deps.pool, caller.accountId, id);
        return { status: 200, body: await readDeliveryLog(deps.pool, id, query) };
      },
    }),
    route({
      method: 'get',
      path: '/v1/monitors/:id/events',
      scope: 'monitors:read',
      operationId: 'listEvents',
      tag: 'Monitors',
      summary: 'List spikes and digests',
      description:
        'The `monitor.spike` and `monitor.digest` events of the last 30 days, newest first, with their content and delivery state. A digest refers to its matches by a range: `GET /v1/monitors/{id}/matches` with its `after` starts at its first match. Digests sent by mail are not listed. Free.',
      params: { id: MONITOR_ID },
      query: eventLogQuery,
      example: { limit: 25 },
      responses: [ok('A page of events.', eventLogPage)],
      async handle({ caller, id, query }) {
        await findMonitor(deps.pool, caller.accountId, id);
        return { status: 200, body: await readEventLogPage(deps.pool, id, query) };
      },
    }),
    route({
      method: 'post',
      path: '/v1/monitors/:id/redeliver',
      scope: 'monitors:write',
      operationId: 'redeliver',
      tag: 'Monitors',
      summary: 'Resend matches',
      description:
        'Queues matches whose delivery failed, was skipped or succeeded, at ten a second and at most 5,000 per request. With `status` set to `pending`, matches that are waiting for a retry are sent now. They keep their attempts and remaining retries: if this attempt fails, the next retry follows. When `queued` is 0, `reason` says why. Matches beyond the daily cap are not sent. A failed resend does not count toward `webhook_failing`. Repeating the request is safe: a match is queued only once. Per UTC day, an account can resend as many matches as all its monitors together can send, but at least 1,000; beyond that the answer is `rate_limited` until the day ends.',
      params: { id: MONITOR_ID },
      body: { schema: redeliverBody },
      responses: [ok('The matches are queued.', redelivery)],
      async handle({ caller, id, body }) {
        return { status: 200, body: await redeliver(deps.pool, caller, { id, body }) };
      },
    }),
  ];
}

/**
 * A repeat with the same Idempotency-Key gets the same secret. A second rotation ends the secret that the receiver
 * knows, so a client that lost the response must not have to rotate again.
 */
async function rotate({ pool, secretBox }: TestDeliveryDeps, request: RouteRequest): Promise<RouteResponse> {
  const { caller, id } = request;
  // Reject malformed ids before they enter the idempotency key.
  if (!isMonitorId(id)) throw noSuchMonitor();
  const { status, body, headers } = await runIdempotentRequest({
    pool,
    secretBox,
    request,
    prepare: () => Promise.resolve(),
    async work(client) {
      const secret = await rotateSecret(client, secretBox, caller.accountId, id);
      return { status: 200, body: { webhook_secret: secret } };
    },
  });
  return { status, body, headers: headers ?? {} };
}

/** Matches in one request, so that the monitor's lock is held only for a fraction of a second. */
const MAX_PER_REQUEST = 5_000;
/** Ten a second, so that a receiver that was down does not get everything it missed at once. */
const PACE_MS = 100;
/** Matches per UTC day: as many as the plan's monitors may match in a day, and at least this many. */
const MIN_DAILY_LIMIT = 1_000;
/** The states that can be sent again: settled, and meant to be sent in the first place. */
const SETTLED = ['failed', 'skipped', 'delivered'] as const;

/**
 * Queues settled matches for another delivery, paced, or makes due what waits for a later attempt. Repeating it is
 * harmless: queued matches are pending and stay unchanged.
 *
 * @throws ApiError not_found, invalid_request, rate_limited when the account has reached its daily limit of resends
 */
function redeliver(
  pool: Pool,
  { accountId, pack }: Pick<Caller, 'accountId' | 'pack'>,
  { id, body }: { id: string; body: z.output<typeof redeliverBody> },
): Promise<Redelivery> {
  const { isPending, ...choice } = choiceOf(id, body);
  return inTransaction(pool, async (client) => {
    const { webhookUrl } = await findAndLockMonitor(client, accountId, id);
    if (webhookUrl === null) {
      throw invalidRequest([{ field: 'webhook_url', message: 'the monitor has no webhook to send to' }]);
    }
    const { monitors, dailyMatchCap } = planOf(pack);
    const dailyLimit = Math.max(MIN_DAILY_LIMIT, monitors * dailyMatchCap);
    const { today, secondsLeft } = await readResends(client, accountId);
    if (today >= dailyLimit) throw usedUp(dailyLimit, secondsLeft);
    const limit = Math.min(MAX_PER_REQUEST, dailyLimit - today);
    const queued = isPending
      ? await hastenPending(client, id, choice.since, limit)
      : await queueResends(client, id, choice, { limit, paceMs: PACE_MS });
    // Other requests of the account may have counted in the meantime; the whole request is then rolled back.
    if (!(await countResends(client, accountId, { count: queued, limit: dailyLimit })))
      throw usedUp(dailyLimit, secondsLeft);
    if (queued > 0) return { queued, more: queued === limit };
    const waits = await hasPending(client, id, choice);
    return { queued, more: false, reason: waits ? (isPending ? 'due' : 'waiting') : 'nothing_fits' };
  });
}

function usedUp(dailyLimit: number, retryAfter: number): ApiError {
  return new ApiError('rate_limited', `The account can resend ${dailyLimit} matches per UTC day. Try again tomorrow.`, {
    retryAfter,
  });
}

function choiceOf(
  monitorId: string,
  { match_ids, status, since }: z.output<typeof redeliverBody>,
): ResendChoice & { isPending: boolean } {
  const named = match_ids?.map(parseMatchId);
  refuseFaults(
    (named ?? []).flatMap((match, index) =>
      match?.monitorId === monitorId
        ? []
        : [{ field: `match_ids[${index}]`, message: 'must be the id of a match of this monitor' }],
    ),
  );
  return {
    seqs: named?.map((match) => match!.seq),
    isPending: status === 'pending',
    statuses: status === undefined || status === 'pending' ? SETTLED : [status],
    since: since === undefined ? undefined : new Date(since),
  };
}

/** Sets a new secret and returns it, only this once. Runs in the caller's transaction. @throws ApiError not_found */
export async function rotateSecret(
  client: PoolClient,
  secretBox: SecretBox,
  accountId: string,
  id: string,
): Promise<string> {
  const secret = newWebhookSecret();
  await findAndLockMonitor(client, accountId, id);
  await rotateWebhookSecret(client, id, secretBox.seal(secret, id));
  return secret;
}

export interface TestDeliveryDeps {
  pool: Pool;
  secretBox: SecretBox;
  egress: EgressClient;
  clock: Clock;
  /** The forum's address, for the link in the sample. */
  siteUrl: string;
}

const TESTS_PER_MINUTE = 5;

type WebhookInUse = MonitorWebhook & { webhookUrl: string; webhookKind: WebhookKind };

/**
 * Sends a sample match to a monitor's webhook exactly like a real one and reports the outcome.
 *
 * @throws ApiError not_found, invalid_request without a webhook, rate_limited
 */
export async function testDelivery(deps: TestDeliveryDeps, accountId: string, id: string): Promise<TestDelivery> {
  const webhook = await usableWebhook(deps.pool, accountId, id);
  await takeTest(deps.pool, accountId);
  const result = await send(deps, id, webhook);
  const { deliveryStatus, error } = decideOutcome(result, 0, 0);
  const delivered = deliveryStatus === 'delivered';
  if (delivered) await clearFailing(deps.pool, accountId, id, webhook.webhookUrl);
  return { delivered, status: result.status, error };
}

async function send(
  deps: TestDeliveryDeps,
  id: string,
  webhook: WebhookInUse,
): Promise<EgressResult | { error: 'secret_unreadable'; status: 0 }> {
  let message: WebhookMessage;
  try {
    message = sampleMessage(deps, id, webhook);
  } catch {
    // SECRET_KEY changed since the secret was stored: deliveries fail in the same way, and log it.
    return { error: 'secret_unreadable', status: 0 };
  }
  return deps.egress.send({
    url: webhookRequestUrl(webhook.webhookKind, webhook.webhookUrl),
    method: 'POST',
    headers: { ...message.headers, 'X-Service-Test': '1' },
    body: message.body,
    deadlineMs: WEBHOOK_DEADLINE_MS,
  });
}

async function usableWebhook(pool: Pool, accountId: string, id: string): Promise<WebhookInUse> {
  const webhook = isMonitorId(id) ? await readMonitorWebhook(pool, accountId, id) : undefined;
  if (!webhook) throw noSuchMonitor();
  const { webhookUrl, webhookKind } = webhook;
  if (webhookUrl === null || webhookKind === null) {
    throw invalidRequest([{ field: 'webhook_url', message: 'the monitor has no webhook to test' }]);
  }
  return { ...webhook, webhookUrl, webhookKind };
}

async function takeTest(pool: Pool, accountId: string): Promise<void> {
  const retryAfter = await takeUse(pool, { name: `webhook-test:${accountId}`, maxUses: TESTS_PER_MINUTE, seconds: 60 });
  if (retryAfter === 0) return;
  throw new ApiError('rate_limited', `Too many test deliveries: the limit is ${TESTS_PER_MINUTE} per minute.`, {
    retryAfter,
  });
}

function sampleMessage(deps: TestDeliveryDeps, id: string, webhook: WebhookInUse): WebhookMessage {
  const { secretBox, clock, siteUrl } = deps;
  const now = clock();
  const previous = webhook.previousSecret;
  const match = sampleMatch({ monitorId: id, keyword: webhook.firstTerm }, { siteUrl, now });
  return buildWebhookMessage({
    id: match.id,
    kind: webhook.webhookKind,
    monitor: { id, name: webhook.name },
    content: { type: 'monitor.match', match },
    secrets: [secretBox.open(webhook.webhookSecret, id), ...(previous ? [secretBox.open(previous, id)] : [])],
    now,
  });
}

/** Keeps the failing state when the webhook was changed during the attempt. */
async function clearFailing(pool: Pool, accountId: string, id: string, testedUrl: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockMonitor(client, accountId, id);
    const current = await readMonitor(client, accountId, id);
    if (current?.webhookUrl === testedUrl) await clearMonitorHealth(client, id);
  });
}
