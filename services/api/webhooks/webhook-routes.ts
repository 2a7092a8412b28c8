import { deliveryLogQuery } from '../../../schemas/api/delivery-log.ts';
import { eventLogQuery } from '../../../schemas/api/event-log.ts';
import { isMonitorId } from '../../../shared/domain/identifiers.ts';
import { runIdempotentRequest } from '../admission/idempotent-request.ts';
import { noSuchMonitor } from '../http/api-error.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { findMonitor } from '../monitors/find-monitor.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import { readDeliveryLog } from './delivery-log.ts';
import { readEventLogPage } from './event-log.ts';
import { redeliver } from './redeliver.ts';
import { rotateSecret } from './rotate-secret.ts';
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
