import { z } from 'zod';

/** ISO 8601 in UTC with milliseconds, as Date.prototype.toISOString prints it. */
export const timestamp = z.iso.datetime({ precision: 3 });

/** Bare ids are opaque: up to 13 letters and digits (base 36 so far), never a number, never an order. */
export const bareId = z.string().regex(/^[0-9A-Za-z]{1,13}$/);
export const fullname = z.string().regex(/^t[13]_[0-9A-Za-z]{1,13}$/);

/** What every message about a post or comment carries. */
export const itemContent = z.object({
  thing_id: fullname,
  kind: z.enum(['post', 'comment']),
  post_id: bareId,
  /** t3_… or t1_… of a comment's parent; null for a post. */
  parent_id: fullname.nullable(),
  subreddit: z.string(),
  /** `[deleted]` when the account is gone. */
  author: z.string(),
  /** The post's title; for a comment the title of the post it is on, empty when that could not be had. */
  title: z.string(),
  /** A post's own text, or the comment's text, as markdown, unescaped. */
  body: z.string(),
  /** Full URL. */
  permalink: z.string(),
  nsfw: z.boolean(),
  created_utc: timestamp,
});

export type ItemContent = z.infer<typeof itemContent>;

/** Value of forum.posts and forum.comments. Key: thing_id. The broker's append time is the item's entered_at. */
export const forumItem = itemContent.extend({
  v: z.literal(1),
  /** Name of the crawl source: post-ids, comment-ids, listings, threads or replay. */
  source: z.string(),
  /** From a dump file: the age of the item does not matter when it is matched. */
  replay: z.boolean(),
  first_seen_at: timestamp,
  score: z.number().int(),
  num_comments: z.number().int().nullable(),
  /** Where a link post points; the permalink for a text post; null for a comment. */
  url: z.string().nullable(),
});

export type ForumItem = z.infer<typeof forumItem>;
