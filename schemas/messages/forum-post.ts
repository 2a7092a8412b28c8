import { z } from 'zod';
import { bareId, fullname, timestamp } from './forum-item.ts';

/** One picture or video. A gallery has one item of type `gallery` per picture, in order. */
export const postMedia = z.strictObject({
  type: z.enum(['image', 'video', 'gallery']),
  url: z.string(),
  /** Pixels; 0 when the forum does not say. */
  width: z.number().int().min(0),
  height: z.number().int().min(0),
  /** Empty when there is none. */
  caption: z.string(),
});
export type PostMedia = z.infer<typeof postMedia>;

export const postPoll = z.strictObject({
  total_votes: z.number().int().min(0),
  is_closed: z.boolean(),
  /** While a poll is open the forum hides the counts, so they are 0. */
  options: z.array(z.strictObject({ id: z.string(), text: z.string(), vote_count: z.number().int().min(0) })),
});
export type PostPoll = z.infer<typeof postPoll>;

/** The post that a crosspost repeats. */
export const crosspostOf = z.strictObject({
  id: bareId,
  subreddit: z.string(),
  title: z.string(),
  author: z.string(),
  permalink: z.string(),
});

const commentFields = z.strictObject({
  id: bareId,
  /** t3_… of the post, or t1_… of the comment that this one answers. */
  parent_id: fullname,
  /** `[deleted]` when the account or the comment is deleted. */
  author: z.string(),
  /** Unescaped Markdown; `[deleted]` or `[removed]` when the comment is deleted or removed. */
  body: z.string(),
  score: z.number().int(),
  created_at: timestamp,
  /** 0 for a reply to the post itself. */
  depth: z.number().int().min(0),
  /** Written by the author of the post. */
  is_submitter: z.boolean(),
  /** 1 when the forum marks it as controversial. */
  controversy: z.number().int().min(0),
});

export type Comment = z.infer<typeof commentFields> & { replies: Comment[] };

/** A node of a comment tree. */
export const comment: z.ZodType<Comment> = commentFields
  .extend({
    get replies() {
      return z.array(comment);
    },
  })
  .meta({ id: 'Comment' });

/** A post. `comments` is empty except in answers of /v1/forum/post. */
export const post = z
  .strictObject({
    id: bareId,
    name: fullname,
    domain: z.string(),
    is_self: z.boolean(),
    /** Empty when there is none. */
    flair: z.string(),
    spoiler: z.boolean(),
    stickied: z.boolean(),
    locked: z.boolean(),
    /** Removed by anyone other than its author. */
    removed: z.boolean(),
    subreddit: z.string(),
    title: z.string(),
    author: z.string(),
    selftext: z.string(),
    score: z.number().int(),
    num_comments: z.number().int().min(0),
    upvote_ratio: z.number().min(0).max(1),
    url: z.string(),
    permalink: z.string(),
    created_at: timestamp,
    is_video: z.boolean(),
    over_18: z.boolean(),
    media: z.array(postMedia),
    poll: postPoll.nullable(),
    crosspost_of: crosspostOf.nullable(),
    comments: z.array(comment),
  })
  .meta({ id: 'Post' });
export type Post = z.infer<typeof post>;

/** A summary of a discussion, computed from the comments that were read. Its comments have no replies. */
export const discussionGraph = z
  .strictObject({
    post_id: bareId,
    title: z.string(),
    author: z.string(),
    /** The original poster's own comments, in the order of the page. */
    author_followups: z.array(comment),
    /** The highest scores, without the original poster, the automatic moderator and deleted comments. */
    most_upvoted: z.array(comment),
    /** Marked as controversial or with a negative score, without the original poster. */
    controversial: z.array(comment),
    total_analyzed: z.number().int().min(0),
  })
  .meta({ id: 'DiscussionGraph' });
export type DiscussionGraph = z.infer<typeof discussionGraph>;

/** Values of X-Cache-Tier for posts; `services/api/reading/README.md` explains all tiers. */
export const cacheTier = z.enum(['L1_TINYLFU', 'L2_BADGER', 'PARTIAL', 'MISS']);
export type CacheTier = z.infer<typeof cacheTier>;

export const postMeta = z
  .strictObject({
    comments_returned: z.number().int().min(0),
    /** The forum's count, which includes deleted and hidden comments. */
    comments_total: z.number().int().min(0),
    /** A larger max_comments would return more. */
    has_more: z.boolean(),
    max_comments: z.number().int().min(0),
    credits_used: z.number().int().min(1),
    cache: cacheTier,
    /** The balance covered fewer comments than requested. */
    limited_by_balance: z.boolean(),
    /** Present only when a comment was requested. */
    focus_comment_id: bareId.optional(),
  })
  .meta({ id: 'PostMeta' });
export type PostMeta = z.infer<typeof postMeta>;

export const postResponse = z
  .strictObject({ post, discussion_graph: discussionGraph, meta: postMeta })
  .meta({ id: 'PostResponse' });
export const graphResponse = postResponse.omit({ post: true }).meta({ id: 'GraphResponse' });
