import type { Route } from '../route.ts';
import { rotateSecret } from './rotate-secret.ts';
import { testDelivery } from './test-delivery.ts';
import type { TestDeliveryService } from './test-delivery.ts';

/** The routes about a monitor's webhook. */
export function webhookRoutes(service: TestDeliveryService): Route[] {
  return [
    {
      method: 'post',
      path: '/v1/monitors/:id/rotate-secret',
      async handle({ caller, id }) {
        return { status: 200, body: { webhook_secret: await rotateSecret(service, caller.accountId, id) } };
      },
    },
    {
      method: 'post',
      path: '/v1/monitors/:id/test',
      async handle({ caller, id }) {
        return { status: 200, body: await testDelivery(service, caller.accountId, id) };
      },
    },
  ];
}
