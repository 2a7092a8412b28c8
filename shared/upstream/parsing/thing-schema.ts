import { z } from 'zod';
import { bareId, fullname } from '../../../schemas/messages/forum-item.ts';
import { content, integer, optional, seconds } from './field-schemas.ts';

/** null and absent both mean that the account was deleted. */
const author = z.string().catch('[deleted]');

/**
 * The fields of a post's `data` that this service needs; all others are ignored. The reading routes extend it. Only an
 * advertisement (`promoted`) has no community.
 */
export const postData = z
  .object({
    id: bareId,
    author,
    subreddit: optional(z.string()),
    promoted: optional(z.boolean()),
    created_utc: seconds,
    title: z.string(),
    selftext: content,
    over_18: z.boolean().catch(true),
    permalink: optional(z.string()),
    url: optional(z.string()),
    is_self: optional(z.boolean()),
    score: integer,
    num_comments: optional(z.number().int()),
  })
  .refine((post) => post.subreddit !== undefined || post.promoted === true, {
    path: ['subreddit'],
    message: 'is missing',
  });

/** The fields of a comment's `data` that this service needs. Threads lack link_title and over_18. */
export const commentFields = z.object({
  id: bareId,
  author,
  subreddit: z.string(),
  subreddit_id: optional(z.string()),
  created_utc: seconds,
  body: z.string(),
  parent_id: fullname,
  link_id: optional(fullname),
  link_title: optional(z.string()),
  over_18: optional(z.boolean()),
  permalink: optional(z.string()),
  context: optional(z.string()),
  score: integer,
});

/**
 * Adds the post's id from whichever field has it. Inbox listings lack link_id and over_18 but have `context`, a
 * permalink.
 */
export function withPostId<S extends z.ZodType<CommentLocation>>(fields: S) {
  return fields.transform((comment, check) => {
    const postId = postIdOf(comment);
    if (postId !== undefined) return { ...comment, post_id: postId };
    check.addIssue({ code: 'custom', path: ['link_id'], message: 'is missing' });
    return z.NEVER;
  });
}

export const commentData = withPostId(commentFields);

export type PostData = z.infer<typeof postData>;
export type CommentData = z.infer<typeof commentData>;
export type Thing = { kind: 't3'; data: PostData } | { kind: 't1'; data: CommentData };

/** The path of a post's page, or its address. */
export function permalinkOf({ id, permalink }: Pick<PostData, 'id' | 'permalink'>): string {
  return permalink ?? `/comments/${id}/`;
}

/** The fullname: t3_… or t1_…. */
export function fullnameOf(thing: Thing): string {
  return `${thing.kind}_${thing.data.id}`;
}

interface CommentLocation {
  link_id?: string | undefined;
  permalink?: string | undefined;
  context?: string | undefined;
  parent_id: string;
}

function postIdOf(comment: CommentLocation): string | undefined {
  if (comment.link_id !== undefined) return comment.link_id.slice(3);
  const path = comment.permalink ?? comment.context ?? '';
  const fromPath = /\/comments\/([0-9A-Za-z]{1,13})(\/|$)/.exec(path)?.[1];
  return fromPath ?? (comment.parent_id.startsWith('t3_') ? comment.parent_id.slice(3) : undefined);
}
