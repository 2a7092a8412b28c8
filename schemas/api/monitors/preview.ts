import { z } from 'zod';
import { bareId, fullname, timestamp } from '../../messages/forum-item.ts';
import { patchMonitorBody, ruleWarning, unsavedSettings } from '../monitor.ts';

/** The archive holds so many days. */
const MOST_DAYS = 30;

const days = z
  .number()
  .int()
  .min(1)
  .max(MOST_DAYS)
  .default(7)
  .describe('How many days back, counted from now; the archive holds 30.');

/** Body of POST /v1/monitors/preview. */
export const previewBody = z.strictObject({
  settings: unsavedSettings.describe('As in POST /v1/monitors; `name` and webhook have no effect.'),
  days,
});

/** Body of POST /v1/monitors/{id}/diff. */
export const diffBody = z.strictObject({
  changes: patchMonitorBody.describe('As in PATCH /v1/monitors/{id}. Nothing is stored.'),
  days,
});

const count = z.number().int().min(0);

/** UTF-16 code units [start, end) of the text: the first place of a matched term. */
const highlight = z.strictObject({
  /** `post_title`: the title of the comment's post, which is in `title`. */
  field: z.enum(['title', 'body', 'post_title']),
  start: z.number().int().min(0),
  end: z.number().int().min(1),
});

/** What would have been a match. It has no id, as it is not recorded. */
export const previewSample = z.strictObject({
  thing_id: fullname,
  kind: z.enum(['post', 'comment']),
  subreddit: z.string(),
  author: z.string(),
  /** For a comment, the title of its post. */
  title: z.string(),
  body: z.string(),
  permalink: z.string(),
  post_id: bareId,
  created_utc: timestamp,
  first_seen_at: timestamp,
  /** In the rule's order. */
  matched_terms: z.array(z.string()),
  highlights: z.array(highlight),
});

export type PreviewSample = z.infer<typeof previewSample>;

/** A word or community, with the numbers that speak for it. */
export const suggestion = z.strictObject({
  kind: z.enum(['exclude', 'keyword', 'variant', 'subreddit']),
  value: z.string(),
  /** For a variant, the keyword that it is a form of. */
  of: z.string().optional(),
  /** How many of the compared matches have it, and how many matches were compared. */
  matches: count,
  matches_compared: count,
  /** How many items of a sample of the whole stream have it, and how many the sample has. */
  stream: count,
  stream_compared: count,
  /** How much more frequent it is in matches than in the stream; null where it is not compared. */
  lift: z.number().min(0).nullable(),
  message: z.string(),
});

export type Suggestion = z.infer<typeof suggestion>;

/** How far back an answer counts. */
const extent = {
  /** Whether every match of the period was counted. */
  exact: z.boolean(),
  /** From here on every match was counted. */
  exact_from: timestamp,
  /** When the oldest item of the archive was seen; null when it is empty. */
  archive_from: timestamp.nullable(),
};

/** Answer of POST /v1/monitors/preview. */
export const previewAnswer = z.strictObject({
  total: count,
  ...extent,
  /** UTC days with matches, the newest first. */
  by_day: z.array(z.strictObject({ day: z.iso.date(), count })),
  /** Keywords and terms that were found, the most frequent first. A match with two of them counts for both. */
  by_keyword: z.array(z.strictObject({ keyword: z.string(), count })),
  /** The 50 communities with most matches. */
  by_subreddit: z.array(z.strictObject({ subreddit: z.string(), count })),
  /** The newest 20. */
  samples: z.array(previewSample),
  /** UTC days with more matches to be sent than the plan's daily cap; with `thread_once` a thread counts once a day. */
  capped_days: z.array(z.iso.date()),
  credits_per_30_days: count,
  warnings: z.array(ruleWarning),
  suggestions: z.array(suggestion),
});

export type PreviewAnswer = z.infer<typeof previewAnswer>;

const side = z.strictObject({ total: count, samples: z.array(previewSample) });

/** Answer of POST /v1/monitors/{id}/diff. */
export const diffAnswer = z.strictObject({
  /** What the changed rule matches and the present one does not. */
  gained: side,
  lost: side,
  /** What both match. */
  kept: z.strictObject({ total: count }),
  ...extent,
});

export type DiffAnswer = z.infer<typeof diffAnswer>;

/** Data of a `progress` event of a streamed preview. */
export const previewProgress = z.strictObject({ total: count, exact_from: timestamp, candidates: count });

export type PreviewProgress = z.infer<typeof previewProgress>;
