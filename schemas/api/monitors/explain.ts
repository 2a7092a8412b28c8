import { z } from 'zod';
import { fullname, timestamp } from '../../messages/forum-item.ts';
import { unsavedSettings } from '../monitor.ts';

/** Longer texts are refused: nobody could read the explanation. */
const MAX_TEXT = 40_000;
const text = z.string().max(MAX_TEXT, `must have at most ${MAX_TEXT} characters`);

/** Query of GET /v1/monitors/{id}/explain. */
export const explainQuery = z.strictObject({
  thing: z
    .string()
    .min(1, 'must not be empty')
    .max(2_048, 'is too long')
    .describe('Id of a post (`t3_…`) or comment (`t1_…`), or its URL.'),
});

/** Body of POST /v1/monitors/explain. */
export const explainBody = z
  .strictObject({
    settings: unsavedSettings,
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
  .meta({ id: 'ExplainRule' });

const position = z.strictObject({
  field: z.enum(['title', 'body', 'post_title']),
  start: z.number().int().min(0),
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
    term: z.string(),
    matched: z.boolean().describe('Whether it occurs in a text in which it counts.'),
    rule: z
      .enum(['word', 'prefix', 'phrase', 'punctuation', 'characters', 'symbols'])
      .nullable()
      .describe(
        'How it is searched: as a whole `word`, as the beginning of one (`prefix`), as a `phrase`, with its `punctuation`, by `characters` (scripts without spaces), or as `symbols`. null: it has nothing to search for.',
      ),
    positions: z
      .array(position)
      .describe(
        'Its first occurrence in each of these texts, in UTF-16 code units [start, end). The title of a comment is that of its post: `post_title`.',
      ),
    nearest: nearest
      .nullable()
      .describe(
        'For a term that does not occur: the piece of the texts that is nearest to it, and why it does not count. `case`: other capital letters. `other_text`: a text in which it does not count. `inside_word`: a part of a longer word. `punctuation`: the same words with other symbols. `joined`, `split`: written as one word, or as two. `accents`: other accents. `similar_word`: one letter differs. `apart`: all its words, not together. `some_words`: all but those in `missing`. null: nothing is near.',
      ),
    same_as: z.string().optional().describe('An earlier term that is equal after folding, which counts instead.'),
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
  excludes: z.array(explainedTerm),
  filters: z.array(explainedFilter).describe('Each filter that the rule has, and whether the item passes it.'),
};

/** The item that is explained, as it was first seen. */
const explainedItem = z.strictObject({
  thing_id: fullname,
  kind: z.enum(['post', 'comment']),
  subreddit: z.string(),
  author: z.string(),
  title: z.string(),
  body: z.string(),
  permalink: z.string(),
  created_utc: timestamp,
});

/** Answer of POST /v1/monitors/explain. */
export const ruleExplanation = z
  .strictObject({ ...verdict, history: z.array(historyEvent).max(0).describe('Empty: a text has none.') })
  .meta({ id: 'RuleExplanation' });

export type RuleExplanation = z.infer<typeof ruleExplanation>;

/** Answer of GET /v1/monitors/{id}/explain. */
export const itemExplanation = z
  .strictObject({
    ...verdict,
    filters: verdict.filters.describe(
      'Each filter that the rule has, and whether the item passes it; `muted` when the monitor has mutes.',
    ),
    matched: z
      .boolean()
      .nullable()
      .describe("Whether the monitor's rule of now matches it. null: the content is not known."),
    item: explainedItem
      .nullable()
      .describe('The item as it was first seen, blank when the forum removed it. null: it is not in the archive.'),
    history: z
      .array(historyEvent)
      .describe(
        'What happened to it, oldest first, as far as it is kept (30 days). `not_recorded` has a `reason`: `not_matched` (by the rule of that time), `before_monitor`, `paused`, `paused_balance`, `created_too_early`, `muted`, `over_ceiling` (more suppressed matches than are stored), `under_way` (seen less than a minute ago), `rule_unknown` (the rule of that time is not kept), `content_removed`, `unknown`.',
      ),
  })
  .meta({ id: 'ItemExplanation' });

export type ItemExplanation = z.infer<typeof itemExplanation>;
