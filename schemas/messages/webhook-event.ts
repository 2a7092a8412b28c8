import { z } from 'zod';
import { monitorMatch } from './monitor-match.ts';

/** Body of a webhook to a generic endpoint, one per match. A repeated delivery has the same match id. */
export const webhookEvent = z.strictObject({
  type: z.literal('monitor.match'),
  monitor: z.strictObject({ id: z.string(), name: z.string() }),
  match: monitorMatch,
  /** Unix seconds. */
  sent_at: z.number().int().min(0),
});

export type WebhookEvent = z.infer<typeof webhookEvent>;
