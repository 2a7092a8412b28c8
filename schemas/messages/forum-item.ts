import { z } from 'zod';

/** The language of a text that is too short, or whose language is not clear. Not an ISO 639-1 code. */
export const UNDECIDED_LANGUAGE = 'und';

/**
 * The languages that are told apart, as ISO 639-1 codes in alphabetical order. A test compares them with those of the
 * detector (`shared/crawl/load-language-detector.ts`).
 */
export const ITEM_LANGUAGES: readonly string[] = (
  'am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt lv ml mr ms nl ' +
  'no or pa pl pt ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh'
).split(' ');

/** What a field or an object may be, as the description of the API shows it. */
export const example = (value: unknown): { examples: unknown[] } => ({ examples: [value] });

/** ISO 8601 in UTC with milliseconds, as Date.prototype.toISOString prints it. */
export const timestamp = z.iso.datetime({ precision: 3 }).meta(example('2026-03-04T10:00:00.000Z'));

export const count = z.number().int().min(0).meta(example(1));

/** An id without its kind: up to 13 letters and digits (base 36 so far). Never parse it as a number or sort by it. */
export const bareId = z.string().regex(/^[0-9A-Za-z]{1,13}$/);
export const fullname = z
  .string()
  .regex(/^t[13]_[0-9A-Za-z]{1,13}$/)
  .meta(example('t3_1b6xk0p'));

/** The fields of every message about a post or comment. */
export const itemContent = z.object({
  thing_id: fullname,
  kind: z.enum(['post', 'comment']),
  post_id: bareId.meta(example('1b6xk0p')),
  /** t3_… or t1_… of a comment's parent; null for a post. */
  parent_id: fullname.nullable(),
  subreddit: z.string().meta(example('Coffee')),
  /** `[deleted]` when the account is deleted. */
  author: z.string().meta(example('early_riser')),
  /** The title of the post, or of the post that the comment is on; empty when that post could not be read. */
  title: z.string().meta(example('How fine do you grind for a French press?')),
  /** The text of the post or comment, as unescaped Markdown. */
  body: z.string().meta(example('My cup is bitter whatever I do.')),
  /** Full URL. */
  permalink: z.string().meta(example('https://www.reddit.com/r/Coffee/comments/1b6xk0p/')),
  nsfw: z.boolean(),
  created_utc: timestamp,
});

export type ItemContent = z.infer<typeof itemContent>;

/** An item is late when it is first seen more than this long after its creation. */
export const LATE_AFTER_MS = 120_000;

/** Value of forum.posts and forum.comments. Key: thing_id. The broker's append time is the item's entered_at. */
export const forumItem = itemContent.extend({
  v: z.literal(1),
  /** Name of the crawl source: post-ids, comment-ids, listings, threads, audit or replay. */
  source: z.string(),
  /** Whether the item comes from a dump file. Such items are matched at any age. */
  replay: z.boolean(),
  first_seen_at: timestamp,
  score: z.number().int(),
  num_comments: z.number().int().nullable(),
  /** The target of a link post, the permalink of a text post, or null for a comment. */
  url: z.string().nullable(),
  /**
   * Present when the item was first seen more than LATE_AFTER_MS after its creation; never on items of a dump file. It
   * informs: late items are matched and delivered like all others.
   */
  late: z.literal(true).optional(),
  /**
   * ISO 639-1 code of the language of a comment's text, or of a post's title and text; `und` when it is not decided.
   * Older messages do not have this field, which counts as `und`.
   */
  language: z.string().optional(),
});

export type ForumItem = z.infer<typeof forumItem>;

/** Value of forum.removals: a thing was deleted or removed on the forum. Key: thing_id. */
export const forumRemoval = z.object({
  v: z.literal(1),
  thing_id: fullname,
  removed_at: timestamp,
});
