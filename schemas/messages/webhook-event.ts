import { z } from 'zod';
import { monitorMatch } from './monitor-match.ts';

/** Body of the webhook that a generic endpoint gets, once per match; a repeated delivery carries the same match id. */
export const webhookEvent = z.strictObject({
  type: z.literal('monitor.match'),
  monitor: z.strictObject({ id: z.string(), name: z.string() }),
  match: monitorMatch,
  /** Unix seconds. */
  sent_at: z.number().int().min(0),
});

export type WebhookEvent = z.infer<typeof webhookEvent>;
