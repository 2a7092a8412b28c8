import { z } from 'zod';
import { timestamp } from '../messages/forum-item.ts';
import { backfill, backfillHours } from './monitors/backfill.ts';
import { givenName, storableString } from './given-name.ts';
import { optionChanges, optionFields } from './monitors/monitor-options.ts';
import { refinementChanges, refinementFields } from './monitors/monitor-refinements.ts';

export const webhookKind = z.enum(['generic', 'slack', 'discord']);
export type WebhookKind = z.infer<typeof webhookKind>;

export const monitorStatus = z.enum(['active', 'paused', 'paused_balance', 'deleted']);
export type MonitorStatus = z.infer<typeof monitorStatus>;

/** A monitor in answers of the API. */
export const monitor = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** Empty only when there are `terms`. */
  keywords: z.array(z.string()),
  exclude: z.array(z.string()),
  /** Without r/, as the user wrote them. An empty list means all communities. */
  subreddits: z.array(z.string()),
  include_posts: z.boolean(),
  include_comments: z.boolean(),
  nsfw: z.boolean(),
  ...refinementFields,
  webhook_url: z.string().nullable(),
  webhook_kind: webhookKind.nullable(),
  ...optionFields,
  status: monitorStatus,
  webhook_failing: z.boolean(),
  next_charge_at: timestamp,
  last_match_at: timestamp.nullable(),
  created_at: timestamp,
  updated_at: timestamp,
});

export type Monitor = z.infer<typeof monitor>;

export const monitorStats = z.strictObject({
  /** Since 00:00 UTC, without suppressed matches. */
  matches_today: z.number().int().min(0),
  suppressed_today: z.number().int().min(0),
  /** Today's matches above the limit of stored suppressed matches. The count is approximate; nothing else is stored. */
  suppressed_not_stored: z.number().int().min(0),
  /** Today and the previous six days. */
  matches_7d: z.number().int().min(0),
  /** Deliveries that failed permanently in the last 24 hours. */
  delivery_failures_24h: z.number().int().min(0),
  last_match_at: timestamp.nullable(),
});

export type MonitorStats = z.infer<typeof monitorStats>;

/** How the deliveries of a monitor go now. Attempts are kept for 30 days. */
export const monitorDelivery = z.strictObject({
  /**
   * none: no webhook. failing: `webhook_failing`, or the last attempt failed and a match has waited for more than 10
   * minutes. retrying: the last attempt failed. ok: anything else.
   */
  state: z.enum(['ok', 'retrying', 'failing', 'none']),
  /** Matches that wait for their delivery or for a retry; 1,000 when there are more. */
  pending: z.number().int().min(0).max(1_000),
  /** Since when the one that waits longest has waited. */
  oldest_pending_at: timestamp.nullable(),
  /** The HTTP status of the last attempt; 0 when there was no answer; null without attempts. */
  last_status: z.number().int().min(0).nullable(),
  /** Why the last attempt failed; null when it did not. */
  last_error: z.string().nullable(),
  last_attempt_at: timestamp.nullable(),
  last_delivered_at: timestamp.nullable(),
  /** Attempts of the last 24 hours that failed, retried or not; 10,000 when there are more. */
  attempt_failures_24h: z.number().int().min(0).max(10_000),
});

export type MonitorDelivery = z.infer<typeof monitorDelivery>;

/** Something in an accepted rule that its owner may not mean. */
export const ruleWarning = z.strictObject({
  /** As in the monitor of the answer: `keywords[2]`, counting from 0. */
  field: z.string(),
  code: z.enum([
    'keyword_excluded',
    'nothing_watched',
    'text_not_watched',
    'search_operator',
    'field_prefix',
    'wildcard',
    'quotes_ignored',
    'common_word',
  ]),
  message: z.string(),
});

export type RuleWarning = z.infer<typeof ruleWarning>;

/** Absent when there are none. */
const warnings = z.array(ruleWarning).min(1).optional();

/** Answer of POST /v1/monitors. The secret appears only here. */
export const createdMonitor = z.strictObject({
  monitor,
  webhook_secret: z.string(),
  warnings,
  /** The run that `backfill_hours` asked for; absent without it. */
  backfill: backfill.optional(),
});

/** Answer of PATCH /v1/monitors/{id}. */
export const updatedMonitor = z.strictObject({ monitor, warnings });

/** Answer of GET /v1/monitors. */
export const monitorList = z.strictObject({
  items: z.array(monitor),
  /** How many monitors the account may have, active or paused. */
  limit: z.number().int().min(0),
  used: z.number().int().min(0),
  daily_match_cap: z.number().int().min(0),
});

export const monitorAnswer = z.strictObject({ monitor });
export const monitorPaused = z.strictObject({ status: z.literal('paused') });

const terms = z.array(storableString);

/** What is read as `include_posts` can be written as `posts` or under that name; both must agree. */
interface Kinds {
  posts?: boolean | undefined;
  comments?: boolean | undefined;
  include_posts?: boolean | undefined;
  include_comments?: boolean | undefined;
}

function checkKinds(given: Kinds, context: z.RefinementCtx): void {
  for (const kind of ['posts', 'comments'] as const) {
    const [plain, included] = [given[kind], given[`include_${kind}`]];
    if (plain === undefined || included === undefined || plain === included) continue;
    const message = `must equal ${kind}, which means the same; send one of them`;
    context.addIssue({ code: 'custom', path: [`include_${kind}`], message });
  }
}

const flag = z.boolean().optional();
const kinds = { posts: flag, comments: flag, include_posts: flag, include_comments: flag };
const watched = z.boolean().optional().meta({ default: true });

/** The settings of a new monitor. */
const newSettings = {
  name: givenName,
  keywords: terms.optional(),
  exclude: terms.default([]),
  subreddits: terms.default([]),
  ...kinds,
  posts: watched,
  comments: watched,
  nsfw: z.boolean().default(false),
  ...refinementChanges,
  webhook_url: storableString.trim().optional(),
  webhook_kind: webhookKind.optional(),
  ...optionChanges,
};

const KEYWORDS_REQUIRED = {
  path: ['keywords'],
  message: 'is required',
  // Also when other fields are wrong, so that it is named together with them.
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null && !Array.isArray(value),
};
const hasTerms = ({ keywords, terms }: { keywords?: unknown; terms?: unknown[] | null | undefined }): boolean =>
  keywords !== undefined || (terms?.length ?? 0) > 0;

/** Leaves of the two names of a kind the one that is stored. */
function plainKinds<Body extends Kinds>({ include_posts: posts, include_comments: comments, ...body }: Body) {
  return { ...body, posts: body.posts ?? posts ?? true, comments: body.comments ?? comments ?? true };
}

/**
 * Body of POST /v1/monitors. It checks shapes only; the service validates terms, names, languages and webhooks.
 */
export const createMonitorBody = z
  .strictObject({ ...newSettings, backfill_hours: backfillHours.optional() })
  .refine(hasTerms, KEYWORDS_REQUIRED)
  .superRefine(checkKinds)
  .transform(plainKinds);

/** The settings of a monitor that is not created, in requests about what its rule finds. */
export const unsavedSettings = z
  .strictObject({ ...newSettings, name: givenName.optional() })
  .refine(hasTerms, KEYWORDS_REQUIRED)
  .superRefine(checkKinds)
  .transform(plainKinds);

export type UnsavedSettings = z.output<typeof unsavedSettings>;

/** Body of PATCH /v1/monitors/{id}. Absent fields do not change; null or an empty URL removes the webhook. */
export const patchMonitorBody = z
  .strictObject({
    name: givenName.optional(),
    keywords: terms.optional(),
    exclude: terms.optional(),
    subreddits: terms.optional(),
    ...kinds,
    nsfw: z.boolean().optional(),
    ...refinementChanges,
    webhook_url: storableString.trim().nullable().optional(),
    webhook_kind: webhookKind.nullable().optional(),
    ...optionChanges,
  })
  .superRefine(checkKinds)
  .transform(({ include_posts: posts, include_comments: comments, ...body }) => ({
    ...body,
    posts: body.posts ?? posts,
    comments: body.comments ?? comments,
  }));
