import { z } from 'zod';
import { bareId, fullname, timestamp } from '../messages/forum-item.ts';
import { post } from '../messages/forum-post.ts';

/** A comment without its tree. */
export const commentItem = z
  .strictObject({
    id: bareId,
    name: fullname,
    post_id: bareId,
    post_title: z.string().describe('Empty when it is not available.'),
    subreddit: z.string(),
    author: z.string().describe('`[deleted]` when the account or the comment was deleted.'),
    body: z.string().describe('Markdown.'),
    permalink: z.string(),
    parent_id: fullname.describe('The parent: `t3_…` for the post, or `t1_…` for a comment.'),
    score: z.number().int(),
    created_at: timestamp,
    is_submitter: z.boolean().describe('Whether the author of the post wrote it.'),
    controversiality: z.number().int().min(0).describe('1: the forum marks it as controversial.'),
  })
  .meta({ id: 'CommentItem' });
export type CommentItem = z.infer<typeof commentItem>;

export const subredditRule = z
  .strictObject({
    kind: z.string().describe('What it applies to: `link`, `comment` or `all`.'),
    short_name: z.string(),
    description: z.string(),
    violation_reason: z.string(),
    priority: z.number().int(),
    created_at: timestamp,
  })
  .meta({ id: 'SubredditRule' });

export const subreddit = z
  .strictObject({
    name: z.string().describe('Without `r/`.'),
    title: z.string(),
    public_description: z.string(),
    description: z.string(),
    url: z.string(),
    icon: z.string(),
    type: z.string().describe('`public`, `restricted`, `private`, `archived`, `user` …'),
    subscribers: z.number().int().min(0),
    created_at: timestamp,
    over_18: z.boolean(),
    rules: z.array(subredditRule).describe('Empty in listings.'),
  })
  .meta({ id: 'Subreddit' });
export type Subreddit = z.infer<typeof subreddit>;

export const forumUser = z
  .strictObject({
    name: z.string(),
    created_at: timestamp.nullable().describe('null when the forum does not say, for example for suspended accounts.'),
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
  query: z.string().nullable().describe('The search query; null without one.'),
  sort: z.string().describe('The order of the items.'),
  count: z.number().int().min(0).describe('The number of items on this page.'),
  after: z.string().nullable().describe('Send it as `after` to get the next page; null on the last page.'),
  filtered_nsfw: z.number().int().min(0).describe('Items left out of this page because they are NSFW.'),
  degraded: z
    .boolean()
    .describe(
      'The forum could not be reached, and this is an older copy; or items that could not be read are left out.',
    ),
};
const within = { subreddit: z.string().nullable().describe('The community of the request; null without one.') };

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
  .strictObject({
    items: z.array(thingItem).describe('In the requested order.'),
    missing: z.array(z.string()).describe('Requested items that do not exist, as written in the request.'),
  })
  .meta({ id: 'ThingsResponse' });

export type PostListing = z.infer<typeof postListing>;
export type CommentListing = z.infer<typeof commentListing>;
export type SubredditListing = z.infer<typeof subredditListing>;
export type UserListing = z.infer<typeof userListing>;
export type ThingsResponse = z.infer<typeof thingsResponse>;
