import { z } from 'zod';
import { bareId, count, example, fullname, itemContent, timestamp } from './forum-item.ts';

const { post_id: postId, subreddit, author, title, body, permalink } = itemContent.shape;

/** One picture or video. A gallery has one item of type `gallery` per picture, in order. */
export const postMedia = z.strictObject({
  type: z.enum(['image', 'video', 'gallery']),
  url: z.string(),
  /** Pixels; 0 when the forum does not say. */
  width: count,
  height: count,
  /** Empty when there is none. */
  caption: z.string(),
});
export type PostMedia = z.infer<typeof postMedia>;

export const postPoll = z.strictObject({
  total_votes: count,
  is_closed: z.boolean(),
  /** While a poll is open the forum hides the counts, so they are 0. */
  options: z.array(z.strictObject({ id: z.string(), text: z.string(), vote_count: count })),
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

/** Of a comment without its replies. */
export const commentFields = z.strictObject({
  id: bareId.meta(example('k2c9xqa')),
  parent_id: fullname.describe('The parent: `t3_…` for a post, or `t1_…` for a comment.'),
  author: author.describe('`[deleted]` when the account or the comment was deleted.').meta(example('slow_drip')),
  body: z
    .string()
    .describe('Markdown; `[deleted]` or `[removed]` when it no longer exists.')
    .meta(example('Coarser. If it takes less than four minutes it will taste sour.')),
  score: z.number().int().meta(example(41)),
  created_at: timestamp,
  depth: count.describe('The depth in the tree. 0: a reply to the post.').meta(example(0)),
  is_submitter: z.boolean().describe('Whether the comment was written by the author of the post.'),
  controversy: count.describe('1: the forum marks it as controversial.').meta(example(0)),
});

export type Comment = z.infer<typeof commentFields> & { replies: Comment[] };

/** A node of a comment tree. */
export const comment: z.ZodType<Comment> = commentFields
  .extend({
    get replies() {
      return z.array(comment).meta(example([]));
    },
  })
  .meta({ id: 'Comment' });

/** A post. `comments` is empty except in answers of /v1/forum/post. */
export const post = z
  .strictObject({
    id: postId.describe('Without `t3_`.'),
    name: fullname.describe('The fullname: `t3_` followed by the id.'),
    domain: z.string().meta(example('self.Coffee')),
    is_self: z.boolean().meta(example(true)),
    flair: z.string().describe('Empty when there is none.').meta(example('Question')),
    spoiler: z.boolean(),
    stickied: z.boolean(),
    locked: z.boolean(),
    removed: z.boolean().describe('true: removed by someone other than its author.'),
    subreddit,
    title,
    author,
    selftext: body.describe('Markdown; empty for a link post.'),
    score: z.number().int().meta(example(128)),
    num_comments: count,
    upvote_ratio: z.number().min(0).max(1).describe('0 when the forum does not say.').meta(example(0.97)),
    url: permalink,
    permalink,
    created_at: timestamp,
    is_video: z.boolean(),
    over_18: z.boolean(),
    media: z
      .array(postMedia)
      .describe(
        'Images and videos. A gallery has one item of type `gallery` per image, in order. Width and height are 0 when the forum does not say.',
      )
      .meta(example([])),
    poll: postPoll
      .nullable()
      .describe('null when there is no poll. While a poll is open, the forum hides the counts, and they are 0.')
      .meta(example(null)),
    crosspost_of: crosspostOf
      .nullable()
      .describe('The post that this one crossposts; null when there is none.')
      .meta(example(null)),
    comments: z.array(comment).describe('The comment tree. Filled only by `/v1/forum/post`.').meta(example([])),
  })
  .meta({ id: 'Post' });
export type Post = z.infer<typeof post>;

/** A summary of a discussion, computed from the comments that were read. Its comments have no replies. */
export const discussionGraph = z
  .strictObject({
    post_id: postId,
    title,
    author,
    author_followups: z
      .array(comment)
      .describe('Comments by the author of the post. Comments in this graph have no replies.')
      .meta(example([])),
    most_upvoted: z
      .array(comment)
      .describe(
        'The ten highest scores, without the author of the post, the automatic moderator and deleted comments.',
      ),
    controversial: z
      .array(comment)
      .describe('Marked as controversial or with a negative score, without the author of the post.')
      .meta(example([])),
    total_analyzed: count.describe('How many comments were considered.'),
  })
  .meta({ id: 'DiscussionGraph' });
export type DiscussionGraph = z.infer<typeof discussionGraph>;

/** Values of X-Cache-Tier for posts; `services/api/reading/README.md` explains all tiers. */
export const cacheTier = z.enum(['L1_TINYLFU', 'L2_BADGER', 'PARTIAL', 'MISS']);
export type CacheTier = z.infer<typeof cacheTier>;

export const postMeta = z
  .strictObject({
    comments_returned: count.describe('How many comments were read, even if the format shows only some of them.'),
    comments_total: count.describe("The forum's count, including deleted and hidden comments."),
    has_more: z.boolean().describe('Whether a larger `max_comments` would return more.'),
    max_comments: count.meta(example(200)),
    credits_used: z.number().int().min(1).meta(example(1)),
    cache: cacheTier.describe('The value of the header `X-Cache-Tier`.'),
    limited_by_balance: z.boolean().describe('Whether the balance covered fewer comments than requested.'),
    focus_comment_id: bareId.optional().describe('Only present when a comment was requested.'),
  })
  .meta({ id: 'PostMeta' });
export type PostMeta = z.infer<typeof postMeta>;

export const postResponse = z
  .strictObject({ post, discussion_graph: discussionGraph, meta: postMeta })
  .meta({ id: 'PostResponse' });
export const graphResponse = postResponse.omit({ post: true }).meta({ id: 'GraphResponse' });
