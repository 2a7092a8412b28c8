import { z } from 'zod';
import { timestamp } from './forum-item.ts';

/** Value of monitor.deliveries: one attempt to deliver a match, with its outcome. Key: monitor_id. */
export const deliveryAttempt = z.object({
  v: z.literal(1),
  monitor_id: z.string(),
  seq: z.number().int().min(1),
  match_id: z.string(),
  /** 1, 2, 3 …; resends continue the count. */
  attempt: z.number().int().min(1),
  started_at: timestamp,
  duration_ms: z.number().int().min(0),
  webhook_kind: z.enum(['generic', 'slack', 'discord']),
  /** Only the host of the webhook URL, because URLs of chat webhooks are secrets. */
  host: z.string(),
  /** The HTTP status of the answer; 0 when there was none. */
  status: z.number().int().min(0).max(999),
  /** null, or timeout, dns, tls, connect, blocked_address, redirect, http_status … */
  error: z.string().nullable(),
  /** The match's delivery status after this attempt. */
  delivery_status: z.enum(['pending', 'delivered', 'failed']),
  /** When the next attempt is due; null when there is none. */
  next_attempt_at: timestamp.nullable(),
});

export type DeliveryAttempt = z.infer<typeof deliveryAttempt>;
