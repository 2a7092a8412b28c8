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
export const previewBody = z
  .strictObject({
    settings: unsavedSettings.describe('As in POST /v1/monitors; `name` and webhook have no effect.'),
    days,
  })
  .meta({ id: 'PreviewRequest' });

/** Body of POST /v1/monitors/{id}/diff. */
export const diffBody = z
  .strictObject({
    changes: patchMonitorBody.describe('As in PATCH /v1/monitors/{id}. Nothing is stored.'),
    days,
  })
  .meta({ id: 'DiffRequest' });

const count = z.number().int().min(0);

/** UTF-16 code units [start, end) of the text: the first place of a matched term. */
const highlight = z.strictObject({
  /** `post_title`: the title of the comment's post, which is in `title`. */
  field: z.enum(['title', 'body', 'post_title']),
  start: z.number().int().min(0),
  end: z.number().int().min(1),
});

/** What would have been a match. It has no id, as it is not recorded. */
export const previewSample = z
  .strictObject({
    thing_id: fullname,
    kind: z.enum(['post', 'comment']),
    subreddit: z.string(),
    author: z.string(),
    title: z.string().describe('For a comment, the title of its post.'),
    body: z.string(),
    permalink: z.string(),
    post_id: bareId,
    created_utc: timestamp,
    first_seen_at: timestamp,
    /** In the rule's order. */
    matched_terms: z.array(z.string()),
    highlights: z
      .array(highlight)
      .describe(
        'The first place of each matched term, in UTF-16 code units [start, end). `post_title` is `title` of a comment.',
      ),
  })
  .meta({ id: 'PreviewSample' });

export type PreviewSample = z.infer<typeof previewSample>;

/** A word or community, with the numbers that speak for it. */
export const suggestion = z
  .strictObject({
    kind: z
      .enum(['exclude', 'keyword', 'variant', 'subreddit'])
      .describe(
        '`exclude`, `keyword`: a word that stands out in matches; `variant`: another form of a keyword, which occurs; `subreddit`: a community with many matches.',
      ),
    value: z.string(),
    of: z.string().optional().describe('The keyword that a variant is a form of.'),
    matches: count.describe('Matches with it, of `matches_compared`.'),
    matches_compared: count,
    stream: count.describe('Items with it in a sample of everything, of `stream_compared`.'),
    stream_compared: count,
    lift: z
      .number()
      .min(0)
      .nullable()
      .describe('Its share of the matches divided by its share of the sample; null for variants.'),
    message: z.string(),
  })
  .meta({ id: 'Suggestion' });

export type Suggestion = z.infer<typeof suggestion>;

const archiveFrom = timestamp
  .nullable()
  .describe('When the oldest item of the archive was seen; null when it is empty.');

/** Answer of POST /v1/monitors/preview. */
export const previewAnswer = z
  .strictObject({
    total: count,
    exact: z.boolean().describe('Whether every match of the period was counted.'),
    exact_from: timestamp.describe('From here on every match was counted; older ones only as far as they were read.'),
    archive_from: archiveFrom,
    by_day: z
      .array(z.strictObject({ day: z.iso.date(), count }))
      .describe('UTC days with matches, by when they were seen, the newest first.'),
    by_keyword: z
      .array(z.strictObject({ keyword: z.string(), count }))
      .describe('The most frequent first. A match with two keywords counts for both.'),
    by_subreddit: z
      .array(z.strictObject({ subreddit: z.string(), count }))
      .describe('The 50 communities with most matches.'),
    samples: z.array(previewSample).describe('The newest 20.'),
    capped_days: z
      .array(z.iso.date())
      .describe(
        "UTC days with more matches to be sent than the plan's daily cap. With `thread_once`, a thread counts once a day.",
      ),
    credits_per_30_days: count.describe('What a running monitor costs in 30 days, whatever it finds.'),
    warnings: z.array(ruleWarning),
    suggestions: z
      .array(suggestion)
      .describe('What could be added to the rule. Counts decide; each suggestion has its own.'),
  })
  .meta({ id: 'Preview' });

export type PreviewAnswer = z.infer<typeof previewAnswer>;

const side = z.strictObject({ total: count, samples: z.array(previewSample) });

/** Answer of POST /v1/monitors/{id}/diff. */
export const diffAnswer = z
  .strictObject({
    gained: side.describe('What the changed rule matches and the present one does not; the newest 20 as samples.'),
    lost: side.describe('What the present rule matches and the changed one does not.'),
    kept: z.strictObject({ total: count }).describe('What both match.'),
    exact: z.boolean().describe('Whether the whole period was compared.'),
    exact_from: timestamp.describe('From here on everything was compared.'),
    archive_from: archiveFrom,
  })
  .meta({ id: 'MonitorDiff' });

export type DiffAnswer = z.infer<typeof diffAnswer>;

/** Data of a `progress` event of a streamed preview. */
export const previewProgress = z.strictObject({ total: count, exact_from: timestamp, candidates: count });

export type PreviewProgress = z.infer<typeof previewProgress>;
