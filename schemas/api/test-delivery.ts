import { z } from 'zod';

/** Answer of POST /v1/monitors/{id}/test. */
export const testDelivery = z
  .strictObject({
    delivered: z.boolean().describe('Whether the endpoint answered 2xx.'),
    status: z.number().int().min(0).describe('The status of its answer; 0 without an answer.'),
    error: z
      .enum([
        'timeout',
        'dns',
        'tls',
        'connect',
        'blocked_address',
        'redirect',
        'http_status',
        'local',
        'secret_unreadable',
      ])
      .nullable()
      .describe(
        'Why it failed, in the words of the log of deliveries; null: it succeeded. `http_status`: the answer was not 2xx; `redirect`: redirects are not followed; `local`: a problem on our side prevented sending; `secret_unreadable`: the operator must restore a key.',
      ),
  })
  .meta({ id: 'TestDelivery' });

export type TestDelivery = z.infer<typeof testDelivery>;
