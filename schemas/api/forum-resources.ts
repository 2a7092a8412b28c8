import { z } from 'zod';
import { bareId, fullname, timestamp } from '../messages/forum-item.ts';
import { post } from '../messages/forum-post.ts';

/** A comment without its tree. */
export const commentItem = z
  .strictObject({
    id: bareId,
    name: fullname,
    post_id: bareId,
    /** Empty when the post could not be read. */
    post_title: z.string(),
    subreddit: z.string(),
    author: z.string(),
    body: z.string(),
    permalink: z.string(),
    parent_id: fullname,
    score: z.number().int(),
    created_at: timestamp,
    is_submitter: z.boolean(),
    controversiality: z.number().int().min(0),
  })
  .meta({ id: 'CommentItem' });
export type CommentItem = z.infer<typeof commentItem>;

export const subredditRule = z
  .strictObject({
    /** What the rule applies to: `link`, `comment` or `all`. */
    kind: z.string(),
    short_name: z.string(),
    description: z.string(),
    violation_reason: z.string(),
    priority: z.number().int(),
    created_at: timestamp,
  })
  .meta({ id: 'SubredditRule' });

export const subreddit = z
  .strictObject({
    /** Without r/. */
    name: z.string(),
    title: z.string(),
    public_description: z.string(),
    description: z.string(),
    url: z.string(),
    icon: z.string(),
    /** `public`, `restricted`, `private`, `archived`, `user` … */
    type: z.string(),
    subscribers: z.number().int().min(0),
    created_at: timestamp,
    over_18: z.boolean(),
    /** Empty in listings. */
    rules: z.array(subredditRule),
  })
  .meta({ id: 'Subreddit' });
export type Subreddit = z.infer<typeof subreddit>;

export const forumUser = z
  .strictObject({
    name: z.string(),
    /** null when the forum does not say, for example for suspended accounts. */
    created_at: timestamp.nullable(),
    link_karma: z.number().int(),
    comment_karma: z.number().int(),
    total_karma: z.number().int(),
    is_employee: z.boolean(),
    is_mod: z.boolean(),
    has_verified_email: z.boolean(),
    suspended: z.boolean(),
    icon: z.string(),
  })
  .meta({ id: 'User' });
export type ForumUser = z.infer<typeof forumUser>;

const envelope = {
  query: z.string().nullable(),
  sort: z.string(),
  count: z.number().int().min(0),
  /** The cursor of the next page, a fullname; null at the end. */
  after: z.string().nullable(),
  /** Items of this page that were omitted because they are NSFW. */
  filtered_nsfw: z.number().int().min(0),
  /** true: the forum could not be reached, and this is an older copy. */
  degraded: z.boolean(),
};
const within = { subreddit: z.string().nullable() };

export const postListing = z.strictObject({ ...within, ...envelope, items: z.array(post) }).meta({ id: 'Listing' });
export const commentListing = z
  .strictObject({ ...within, ...envelope, items: z.array(commentItem) })
  .meta({ id: 'CommentListing' });
export const subredditListing = z
  .strictObject({ ...envelope, items: z.array(subreddit) })
  .meta({ id: 'SubredditListing' });
export const userListing = z.strictObject({ ...envelope, items: z.array(forumUser) }).meta({ id: 'UserListing' });

export const thingItem = z
  .union([
    z.strictObject({ kind: z.literal('post'), post }),
    z.strictObject({ kind: z.literal('comment'), comment: commentItem }),
  ])
  .meta({ id: 'ThingItem' });
export const thingsResponse = z
  .strictObject({ items: z.array(thingItem), missing: z.array(z.string()) })
  .meta({ id: 'ThingsResponse' });

export type PostListing = z.infer<typeof postListing>;
export type CommentListing = z.infer<typeof commentListing>;
export type SubredditListing = z.infer<typeof subredditListing>;
export type UserListing = z.infer<typeof userListing>;
export type ThingsResponse = z.infer<typeof thingsResponse>;
