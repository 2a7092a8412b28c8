import { z } from 'zod';
import { count, example, itemContent, timestamp } from '../messages/forum-item.ts';
import { patchMonitorBody, ruleWarning, unsavedSettings } from './monitors.ts';

const { thing_id, kind, subreddit, author, title, body, permalink, post_id, created_utc } = itemContent.shape;

/** Longer texts are refused: nobody could read the explanation. */
const MAX_TEXT = 40_000;
const text = z.string().max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`);

/** Query of GET /v1/monitors/{id}/explain. */
export const explainQuery = z.strictObject({
  thing: z
    .string()
    .min(1, 'must not be empty')
    .max(2_048, 'is too long')
    .describe('The id of a post (`t3_…`) or comment (`t1_…`), or its URL.'),
});

/** Body of POST /v1/monitors/explain. */
export const explainBody = z
  .strictObject({
    settings: unsavedSettings.describe('As in POST /v1/monitors; `name` and webhook have no effect.'),
    item: z.strictObject({
      kind: z.enum(['post', 'comment']).default('post'),
      title: text.default(''),
      body: text.default(''),
      subreddit: z.string().max(100).default(''),
      author: z.string().max(100).optional(),
      nsfw: z.boolean().default(false),
      language: z
        .string()
        .regex(/^(?:[a-z]{2}|und)$/)
        .optional(),
    }),
  })
  .meta({
    id: 'ExplainRule',
    ...example({
      settings: { keywords: ['grinds'] },
      item: { title: 'How fine do you grind for a French press?', body: 'My cup is bitter whatever I do.' },
    }),
  });

const position = z.strictObject({
  field: z.enum(['title', 'body', 'post_title']),
  start: count,
  end: z.number().int().min(1),
});

const nearest = z.strictObject({
  reason: z.enum([
    'case',
    'other_text',
    'inside_word',
    'punctuation',
    'joined',
    'split',
    'accents',
    'similar_word',
    'apart',
    'some_words',
  ]),
  written: z.string(),
  position,
  missing: z.array(z.string()).optional(),
  message: z.string(),
});

export const explainedTerm = z
  .strictObject({
    term: z.string().meta(example('grinds')),
    matched: z.boolean().describe('Whether it occurs in a text where it counts.'),
    rule: z
      .enum(['word', 'prefix', 'phrase', 'punctuation', 'characters', 'symbols'])
      .nullable()
      .describe(
        'How it is matched: as a whole `word`, as the beginning of one (`prefix`), as a `phrase`, with its `punctuation`, by `characters` (scripts without spaces), or as `symbols`. null: it contains nothing to match.',
      ),
    positions: z
      .array(position)
      .describe(
        'Its first occurrence in each of these texts, in UTF-16 code units [start, end). The title of a comment is that of its post: `post_title`.',
      )
      .meta(example([])),
    nearest: nearest
      .nullable()
      .describe(
        'For a term that does not occur: the nearest piece of text, and why it does not count. `case`: different capital letters. `other_text`: in a text where the term does not count. `inside_word`: part of a longer word. `punctuation`: the same words with different symbols. `joined`, `split`: written as one word, or as two. `accents`: different accents. `similar_word`: one letter differs. `apart`: all words occur, but not together. `some_words`: all words except those in `missing`. null: nothing is near.',
      )
      .meta(
        example({
          reason: 'similar_word',
          written: 'grind',
          position: { field: 'title', start: 16, end: 21 },
          message: '“grind” differs from “grinds” by one letter.',
        }),
      ),
    same_as: z.string().optional().describe('An earlier term that is equivalent and counts instead.'),
  })
  .meta({ id: 'ExplainedTerm' });

export type ExplainedTerm = z.infer<typeof explainedTerm>;

const explainedFilter = z.strictObject({
  filter: z.enum(['kind', 'nsfw', 'subreddit', 'subreddit_excluded', 'author', 'author_excluded', 'language', 'muted']),
  passed: z.boolean(),
});

const notRecordedReason = z.enum([
  'not_matched',
  'before_monitor',
  'paused',
  'paused_balance',
  'created_too_early',
  'muted',
  'over_ceiling',
  'under_way',
  'rule_unknown',
  'content_removed',
  'unknown',
]);

export type NotRecordedReason = z.infer<typeof notRecordedReason>;

const historyEvent = z.strictObject({
  event: z.enum(['created', 'seen', 'judged', 'recorded', 'not_recorded', 'removed', 'not_archived']),
  at: timestamp.nullable(),
  message: z.string(),
  version: z.number().int().min(1).optional(),
  match_id: z.string().optional(),
  reason: notRecordedReason.optional(),
});

export type HistoryEvent = z.infer<typeof historyEvent>;

const verdict = {
  matched: z.boolean(),
  terms: z.array(explainedTerm),
  require: z
    .array(z.strictObject({ matched: z.boolean(), terms: z.array(explainedTerm) }))
    .optional()
    .describe('The groups of `require`; absent when there are none.'),
  excludes: z.array(explainedTerm).meta(example([])),
  filters: z
    .array(explainedFilter)
    .describe('Each filter that the rule has, and whether the item passes it.')
    .meta(
      example([
        { filter: 'kind', passed: true },
        { filter: 'nsfw', passed: true },
      ]),
    ),
};

/** The item that is explained, as it was first seen. */
const explainedItem = z.strictObject({ thing_id, kind, subreddit, author, title, body, permalink, created_utc });

/** Response of POST /v1/monitors/explain. */
export const ruleExplanation = z
  .strictObject({
    ...verdict,
    history: z.array(historyEvent).max(0).describe('Empty, because a text has no history.').meta(example([])),
  })
  .meta({ id: 'RuleExplanation' });

export type RuleExplanation = z.infer<typeof ruleExplanation>;

/** Response of GET /v1/monitors/{id}/explain. */
export const itemExplanation = z
  .strictObject({
    ...verdict,
    filters: verdict.filters.describe(
      'Each filter that the rule has, and whether the item passes it. Includes `muted` if the monitor has mutes.',
    ),
    matched: z
      .boolean()
      .nullable()
      .describe('Whether the current rule of the monitor matches it. null: the content is not known.'),
    item: explainedItem
      .nullable()
      .describe('The item as it was first seen; blank if the forum removed it. null: it is not in the archive.'),
    history: z
      .array(historyEvent)
      .describe(
        'What happened to the item in the last 30 days, oldest first. `not_recorded` has a `reason`: `not_matched` (by the rule at that time), `before_monitor`, `paused`, `paused_balance`, `created_too_early`, `muted`, `over_ceiling` (more suppressed matches than are stored), `under_way` (seen less than a minute ago, still being processed), `rule_unknown` (the rule at that time is no longer stored), `content_removed`, `unknown`.',
      )
      .meta(
        example([
          { event: 'seen', at: '2026-03-04T10:00:00.000Z', message: 'First seen, by the source post-ids.' },
          {
            event: 'not_recorded',
            at: null,
            reason: 'not_matched',
            message: 'The rule at that time did not match it.',
          },
        ]),
      ),
  })
  .meta({ id: 'ItemExplanation' });

export type ItemExplanation = z.infer<typeof itemExplanation>;

/** Older items are not in the archive. */
const MAX_DAYS = 30;

const days = z
  .number()
  .int()
  .min(1)
  .max(MAX_DAYS)
  .default(7)
  .describe('How many days to look back. The archive has 30.');

/** Body of POST /v1/monitors/preview. */
export const previewBody = z
  .strictObject({
    settings: unsavedSettings.describe('As in POST /v1/monitors; `name` and webhook have no effect.'),
    days,
  })
  .meta({ id: 'PreviewRequest', ...example({ settings: { keywords: ['french press'] }, days: 3 }) });

/** Body of POST /v1/monitors/{id}/diff. */
export const diffBody = z
  .strictObject({
    changes: patchMonitorBody.describe('As in PATCH /v1/monitors/{id}. Nothing is stored.'),
    days,
  })
  .meta({ id: 'DiffRequest', ...example({ changes: { exclude: ['giveaway'] }, days: 3 }) });

/** UTF-16 code units [start, end) of the text: the first place of a matched term. */
const highlight = z.strictObject({
  /** `post_title`: the title of the comment's post, which is in `title`. */
  field: z.enum(['title', 'body', 'post_title']),
  start: count,
  end: z.number().int().min(1),
});

/** What would have been a match. It has no id, as it is not recorded. */
export const previewSample = z
  .strictObject({
    thing_id,
    kind,
    subreddit,
    author,
    title: title.describe('For a comment, the title of its post.'),
    body,
    permalink,
    post_id,
    created_utc,
    first_seen_at: timestamp,
    /** In the rule's order. */
    matched_terms: z.array(z.string()).meta(example(['french press'])),
    highlights: z
      .array(highlight)
      .describe(
        'The first position of each matched term, in UTF-16 code units [start, end). For a comment, `post_title` refers to `title`.',
      )
      .meta(example([{ field: 'title', start: 28, end: 40 }])),
  })
  .meta({ id: 'PreviewSample' });

export type PreviewSample = z.infer<typeof previewSample>;

/** A word or community, with the numbers that speak for it. */
export const suggestion = z
  .strictObject({
    kind: z
      .enum(['exclude', 'keyword', 'variant', 'subreddit'])
      .describe(
        '`exclude`, `keyword`: a word that stands out in matches. `variant`: another form of a keyword that occurs in items. `subreddit`: a community with many matches.',
      ),
    value: z.string().meta(example('giveaway')),
    of: z.string().optional().describe('For a variant: the keyword that it is a form of.'),
    matches: count.describe('How many of the `matches_compared` contain it.').meta(example(21)),
    matches_compared: count.meta(example(240)),
    stream: count.describe('How many of the `stream_compared` items, a sample of everything, contain it.'),
    stream_compared: count.meta(example(5_000)),
    lift: z
      .number()
      .min(0)
      .nullable()
      .describe('Its share in the matches divided by its share in the sample; null for variants.')
      .meta(example(437.5)),
    message: z.string().meta(example('21 of 240 matches contain “giveaway”. Exclude it if you do not want them.')),
  })
  .meta({ id: 'Suggestion' });

export type Suggestion = z.infer<typeof suggestion>;

const archiveFrom = timestamp
  .nullable()
  .describe(
    'When the oldest item of the archive was seen; null when it is empty. When it is later than the start of the period, nothing before it could be counted, whatever `exact` says.',
  );

/** Response of POST /v1/monitors/preview. */
export const previewAnswer = z
  .strictObject({
    total: count.describe('Matches that were counted.').meta(example(240)),
    exact: z.boolean().describe('Whether every match of the period was counted.').meta(example(true)),
    exact_from: timestamp.describe('From this time on, every match was counted. Older ones were counted only in part.'),
    archive_from: archiveFrom,
    by_day: z
      .array(z.strictObject({ day: z.iso.date(), count }))
      .describe('UTC days with matches, by when they were seen, newest first.')
      .meta(
        example([
          { day: '2026-03-04', count: 90 },
          { day: '2026-03-03', count: 150 },
        ]),
      ),
    by_keyword: z
      .array(z.strictObject({ keyword: z.string(), count }))
      .describe('Most frequent first. A match with two keywords counts for both.')
      .meta(example([{ keyword: 'french press', count: 240 }])),
    by_subreddit: z
      .array(z.strictObject({ subreddit: z.string(), count }))
      .describe('The 50 communities with the most matches.')
      .meta(
        example([
          { subreddit: 'Coffee', count: 200 },
          { subreddit: 'espresso', count: 40 },
        ]),
      ),
    samples: z.array(previewSample).describe('The newest 20.'),
    capped_days: z
      .array(z.iso.date())
      .describe(
        "UTC days on which the plan's daily cap would have been exceeded. With `thread_once`, a thread counts once a day.",
      )
      .meta(example([])),
    credits_per_30_days: count
      .describe('What a running monitor costs in 30 days, however many matches it finds.')
      .meta(example(300)),
    warnings: z.array(ruleWarning).meta(example([])),
    suggestions: z
      .array(suggestion)
      .describe('What you could add to the rule. Suggestions are based on the counts that they show.'),
  })
  .meta({ id: 'Preview' });

export type PreviewAnswer = z.infer<typeof previewAnswer>;

const side = z.strictObject({ total: count, samples: z.array(previewSample) });

/** Response of POST /v1/monitors/{id}/diff. */
export const diffAnswer = z
  .strictObject({
    gained: side
      .describe('What the changed rule matches and the current rule does not; the newest 20 as samples.')
      .meta(example({ total: 0, samples: [] })),
    lost: side.describe('What the current rule matches and the changed rule does not.'),
    kept: z.strictObject({ total: count.meta(example(239)) }).describe('What both rules match.'),
    exact: z.boolean().describe('Whether the whole period was compared.').meta(example(true)),
    exact_from: timestamp.describe('From this time on, everything was compared.'),
    archive_from: archiveFrom,
  })
  .meta({ id: 'MonitorDiff' });

export type DiffAnswer = z.infer<typeof diffAnswer>;

/** Data of a `progress` event of a streamed preview. */
export const previewProgress = z.strictObject({ total: count, exact_from: timestamp, candidates: count });

export type PreviewProgress = z.infer<typeof previewProgress>;
