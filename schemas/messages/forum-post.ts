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
  parent_id: fullname.describe('The parent: `t3_…` for the post, or `t1_…` for a comment.'),
  author: z.string().describe('`[deleted]` when the account or the comment was deleted.'),
  body: z.string().describe('Markdown; `[deleted]` or `[removed]` when it no longer exists.'),
  score: z.number().int(),
  created_at: timestamp,
  depth: z.number().int().min(0).describe('The depth; 0: a reply to the post.'),
  is_submitter: z.boolean().describe('Whether the author of the post wrote it.'),
  controversy: z.number().int().min(0).describe('1: the forum marks it as controversial.'),
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
    id: bareId.describe('Without `t3_`.'),
    name: fullname.describe('The fullname: `t3_` and the id.'),
    domain: z.string(),
    is_self: z.boolean(),
    flair: z.string().describe('Empty without one.'),
    spoiler: z.boolean(),
    stickied: z.boolean(),
    locked: z.boolean(),
    removed: z.boolean().describe('Removed by somebody other than its author.'),
    subreddit: z.string(),
    title: z.string(),
    author: z.string(),
    selftext: z.string().describe('Markdown; empty for a link.'),
    score: z.number().int(),
    num_comments: z.number().int().min(0),
    upvote_ratio: z.number().min(0).max(1).describe('0 when the forum does not say.'),
    url: z.string(),
    permalink: z.string(),
    created_at: timestamp,
    is_video: z.boolean(),
    over_18: z.boolean(),
    media: z
      .array(postMedia)
      .describe(
        'Pictures and videos. A gallery has one item of type `gallery` per picture, in order. Width and height are 0 when the forum does not say.',
      ),
    poll: postPoll
      .nullable()
      .describe('null without a poll. While a poll is open the forum hides the counts, and they are 0.'),
    crosspost_of: crosspostOf.nullable().describe('The post that this one crossposts; null without one.'),
    comments: z.array(comment).describe('The tree of comments. Only `/v1/forum/post` fills it.'),
  })
  .meta({ id: 'Post' });
export type Post = z.infer<typeof post>;

/** A summary of a discussion, computed from the comments that were read. Its comments have no replies. */
export const discussionGraph = z
  .strictObject({
    post_id: bareId,
    title: z.string(),
    author: z.string(),
    author_followups: z
      .array(comment)
      .describe('Comments by the author of the post. Comments in this graph have no replies.'),
    most_upvoted: z
      .array(comment)
      .describe(
        'The ten highest scores, without the author of the post, the automatic moderator and deleted comments.',
      ),
    controversial: z
      .array(comment)
      .describe('Marked as controversial or with a negative score, without the author of the post.'),
    total_analyzed: z.number().int().min(0).describe('The number of comments that were considered.'),
  })
  .meta({ id: 'DiscussionGraph' });
export type DiscussionGraph = z.infer<typeof discussionGraph>;

/** Values of X-Cache-Tier for posts; `services/api/reading/README.md` explains all tiers. */
export const cacheTier = z.enum(['L1_TINYLFU', 'L2_BADGER', 'PARTIAL', 'MISS']);
export type CacheTier = z.infer<typeof cacheTier>;

export const postMeta = z
  .strictObject({
    comments_returned: z
      .number()
      .int()
      .min(0)
      .describe('Comments that were read, even if the format shows only some of them.'),
    comments_total: z.number().int().min(0).describe("The forum's count, including deleted and hidden comments."),
    has_more: z.boolean().describe('Whether a larger `max_comments` would return more.'),
    max_comments: z.number().int().min(0),
    credits_used: z.number().int().min(1),
    cache: cacheTier.describe('The value of the header `X-Cache-Tier`.'),
    limited_by_balance: z.boolean().describe('Whether the balance covered fewer comments than requested.'),
    focus_comment_id: bareId.optional().describe('Only when a comment was requested.'),
  })
  .meta({ id: 'PostMeta' });
export type PostMeta = z.infer<typeof postMeta>;

export const postResponse = z
  .strictObject({ post, discussion_graph: discussionGraph, meta: postMeta })
  .meta({ id: 'PostResponse' });
export const graphResponse = postResponse.omit({ post: true }).meta({ id: 'GraphResponse' });
