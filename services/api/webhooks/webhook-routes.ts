import { deliveryLogQuery, redeliverBody } from '../../../schemas/api/delivery-log.ts';
import type { Redelivery } from '../../../schemas/api/delivery-log.ts';
import { eventLogQuery } from '../../../schemas/api/event-log.ts';
import { planOf } from '../../../shared/domain/accounts/plans.ts';
import { isMonitorId, parseMatchId } from '../../../shared/domain/identifiers.ts';
import type { SecretBox } from '../../../shared/domain/secret-box.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-signature.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, PoolClient } from '../../../shared/postgres/pool.ts';
import {
  countResends,
  hasPending,
  hastenPending,
  queueResends,
  readResends,
} from '../../../shared/stores/deliveries/resends.ts';
import type { ResendChoice } from '../../../shared/stores/deliveries/resends.ts';
import { rotateWebhookSecret } from '../../../shared/stores/monitors/monitor-webhooks.ts';
import type { Caller } from '../admission/authentication.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { noSuchMonitor, ApiError } from '../http/api-error.ts';
import { parseRequest, invalidRequest, refuseFaults } from '../http/invalid-request.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { findMonitor, findAndLockMonitor } from '../monitors/find-monitor.ts';
import { readDeliveryLog, readEventLogPage } from './delivery-log.ts';
import { testDelivery } from './test-delivery.ts';
import type { TestDeliveryDeps } from './test-delivery.ts';

/** The routes about a monitor's webhook. */
export function webhookRoutes(deps: TestDeliveryDeps): Route[] {
  return [
    {
      method: 'post',
      path: '/v1/monitors/:id/rotate-secret',
      scope: 'monitors:write',
      handle: (call) => rotate(deps, call),
    },
    {
      method: 'post',
      path: '/v1/monitors/:id/test',
      scope: 'monitors:write',
      async handle({ caller, id }) {
        return { status: 200, body: await testDelivery(deps, caller.accountId, id) };
      },
    },
    {
      method: 'get',
      path: '/v1/monitors/:id/deliveries',
      scope: 'monitors:read',
      readsQuery: true,
      async handle({ caller, id, query }) {
        const requested = parseRequest(deliveryLogQuery, query, 'query');
        await findMonitor(deps.pool, caller.accountId, id);
        return { status: 200, body: await readDeliveryLog(deps.pool, id, requested) };
      },
    },
    {
      method: 'get',
      path: '/v1/monitors/:id/events',
      scope: 'monitors:read',
      readsQuery: true,
      async handle({ caller, id, query }) {
        const requested = parseRequest(eventLogQuery, query, 'query');
        await findMonitor(deps.pool, caller.accountId, id);
        return { status: 200, body: await readEventLogPage(deps.pool, id, requested) };
      },
    },
    {
      method: 'post',
      path: '/v1/monitors/:id/redeliver',
      scope: 'monitors:write',
      readsBody: true,
      async handle({ caller, id, body }) {
        return { status: 200, body: await redeliver(deps.pool, caller, { id, body }) };
      },
    },
  ];
}

/**
 * A repeat with the same Idempotency-Key gets the same secret. Rotating twice ends the one that the receiver knows, so
 * who lost the first answer must not need to.
 */
async function rotate({ pool, secretBox }: TestDeliveryDeps, call: Call): Promise<Answer> {
  const { caller, id } = call;
  // Reject malformed ids before they enter the idempotency key.
  if (!isMonitorId(id)) throw noSuchMonitor();
  const { status, body, headers } = await runIdempotentRequest({
    pool,
    secretBox,
    call,
    route: `POST /v1/monitors/${id}/rotate-secret`,
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
  { id, body }: { id: string; body: unknown },
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
  return new ApiError('rate_limited', `The account may send ${dailyLimit} matches again a UTC day.`, { retryAfter });
}

function choiceOf(monitorId: string, body: unknown): ResendChoice & { isPending: boolean } {
  const { match_ids, status, since } = parseRequest(redeliverBody, body ?? {}, 'body');
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
