import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { givenName, storableString } from './given-name.ts';

export const webhookKind = z.enum(['generic', 'slack', 'discord']);
export type WebhookKind = z.infer<typeof webhookKind>;

export const monitorStatus = z.enum(['active', 'paused', 'paused_balance', 'deleted']);
export type MonitorStatus = z.infer<typeof monitorStatus>;

/** A monitor as the API shows it. */
export const monitor = z.strictObject({
  id: z.string(),
  name: z.string(),
  keywords: z.array(z.string()),
  exclude: z.array(z.string()),
  /** Without r/, as the user wrote them; empty: everywhere. */
  subreddits: z.array(z.string()),
  include_posts: z.boolean(),
  include_comments: z.boolean(),
  nsfw: z.boolean(),
  webhook_url: z.string().nullable(),
  webhook_kind: webhookKind.nullable(),
  status: monitorStatus,
  webhook_failing: z.boolean(),
  next_charge_at: timestamp,
  last_match_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export type Monitor = z.infer<typeof monitor>;

export const monitorStats = z.strictObject({
  /** Since 00:00 UTC; suppressed ones are counted apart. */
  matches_today: z.number().int().min(0),
  suppressed_today: z.number().int().min(0),
  /** Today's matches beyond the ceiling of suppressed ones: counted about right, and nothing else is known of them. */
  suppressed_not_stored: z.number().int().min(0),
  /** Today and the six days before. */
  matches_7d: z.number().int().min(0),
  /** Deliveries given up in the last 24 hours. */
  delivery_failures_24h: z.number().int().min(0),
  last_match_at: timestamp.nullable(),
});

export type MonitorStats = z.infer<typeof monitorStats>;

/** What is worth knowing about a monitor that was accepted, a sentence each; absent when there is nothing to say. */
const warnings = z.array(z.string()).min(1).optional();

/** Answer of POST /v1/monitors: the secret is shown this once. */
export const createdMonitor = z.strictObject({ monitor, webhook_secret: z.string(), warnings });

/** Answer of PATCH /v1/monitors/{id}. */
export const updatedMonitor = z.strictObject({ monitor, warnings });

/** Answer of GET /v1/monitors. */
export const monitorList = z.strictObject({
  items: z.array(monitor),
  /** Monitors that the account may have, running or not. */
  limit: z.number().int().min(0),
  used: z.number().int().min(0),
  daily_match_cap: z.number().int().min(0),
});

export const monitorAnswer = z.strictObject({ monitor });
export const monitorPaused = z.strictObject({ status: z.literal('paused') });

const terms = z.array(storableString);

/** Body of POST /v1/monitors. Shapes only: what a term, a community or a webhook may be is decided by the service. */
export const createMonitorBody = z.strictObject({
  name: givenName,
  keywords: terms,
  exclude: terms.default([]),
  subreddits: terms.default([]),
  posts: z.boolean().default(true),
  comments: z.boolean().default(true),
  nsfw: z.boolean().default(false),
  webhook_url: storableString.optional(),
  webhook_kind: webhookKind.optional(),
});

/** Body of PATCH /v1/monitors/{id}: what is absent stays; null, or an empty URL, removes the webhook. */
export const patchMonitorBody = z.strictObject({
  name: givenName.optional(),
  keywords: terms.optional(),
  exclude: terms.optional(),
  subreddits: terms.optional(),
  posts: z.boolean().optional(),
  comments: z.boolean().optional(),
  nsfw: z.boolean().optional(),
  webhook_url: storableString.nullable().optional(),
  webhook_kind: webhookKind.nullable().optional(),
});
