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
export const explainBody = z.strictObject({
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
});

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

export const explainedTerm = z.strictObject({
  term: z.string(),
  matched: z.boolean(),
  rule: z.enum(['word', 'prefix', 'phrase', 'punctuation', 'characters', 'symbols']).nullable(),
  positions: z.array(position),
  nearest: nearest.nullable(),
  same_as: z.string().optional(),
});

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
  require: z.array(z.strictObject({ matched: z.boolean(), terms: z.array(explainedTerm) })).optional(),
  excludes: z.array(explainedTerm),
  filters: z.array(explainedFilter),
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
export const ruleExplanation = z.strictObject({ ...verdict, history: z.array(historyEvent).max(0) });

export type RuleExplanation = z.infer<typeof ruleExplanation>;

/** Answer of GET /v1/monitors/{id}/explain. */
export const itemExplanation = z.strictObject({
  ...verdict,
  matched: z.boolean().nullable(),
  item: explainedItem.nullable(),
  history: z.array(historyEvent),
});

export type ItemExplanation = z.infer<typeof itemExplanation>;
