import { z } from 'zod';

/** Answer of POST /v1/monitors/{id}/test. */
export const testDelivery = z.strictObject({
  /** Whether the endpoint answered 2xx. */
  delivered: z.boolean(),
  /** The HTTP status of its answer; 0 when there was none. */
  status: z.number().int().min(0),
  /** Why it failed, in the words of the log of deliveries; null when the endpoint answered 2xx. */
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
    .nullable(),
});

export type TestDelivery = z.infer<typeof testDelivery>;
