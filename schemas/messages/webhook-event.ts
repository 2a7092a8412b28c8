import { z } from 'zod';
import { monitorMatch } from './monitor-match.ts';

/** Body of a webhook to a generic endpoint, one per match. A repeated delivery has the same match id. */
export const webhookEvent = z
  .strictObject({
    type: z.literal('monitor.match').describe('Ignore events of other types: later versions may send them.'),
    monitor: z.strictObject({ id: z.string(), name: z.string() }),
    match: monitorMatch.describe('The match. A repeated delivery has the same `id`.'),
    sent_at: z.number().int().min(0).describe('The time of the attempt in Unix seconds.'),
  })
  .meta({ id: 'WebhookEvent' });

export type WebhookEvent = z.infer<typeof webhookEvent>;
