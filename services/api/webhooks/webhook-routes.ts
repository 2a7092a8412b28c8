import { deliveryLogQuery } from '../../../schemas/api/delivery-log.ts';
import { eventLogQuery } from '../../../schemas/api/event-log.ts';
import { parseRequest } from '../http/invalid-request.ts';
import { findMonitor } from '../monitors/find-monitor.ts';
import type { Route } from '../http/route.ts';
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
      async handle({ caller, id }) {
        return { status: 200, body: { webhook_secret: await rotateSecret(deps, caller.accountId, id) } };
      },
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
