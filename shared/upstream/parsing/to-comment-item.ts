import { z } from 'zod';
import type { CommentItem } from '../../../schemas/api/forum-resources.ts';
import { count, optional } from './field-schemas.ts';
import { commentFields, withPostId } from './thing-schema.ts';
import { absolute, isoTime } from './to-post.ts';
import type { MappingOptions } from './to-post.ts';

/** A comment's `data` for the reading routes. */
export const commentSchema = withPostId(
  commentFields.extend({
    is_submitter: optional(z.boolean()),
    link_author: optional(z.string()),
    controversiality: count,
  }),
);
export type UpstreamComment = z.infer<typeof commentSchema>;

/** Fields of the post that a comment may lack. */
export interface PostOfItem {
  title: string;
  author: string;
}

/**
 * Maps a comment.
 *
 * @param post for comments without their post's title and author, as some of /api/info
 */
export function toCommentItem(data: UpstreamComment, { siteUrl }: MappingOptions, post?: PostOfItem): CommentItem {
  const path = data.permalink ?? data.context ?? `/r/${data.subreddit}/comments/${data.post_id}/_/${data.id}/`;
  return {
    id: data.id,
    name: `t1_${data.id}`,
    post_id: data.post_id,
    post_title: data.link_title || (post?.title ?? ''),
    subreddit: data.subreddit,
    author: data.author,
    body: data.body,
    permalink: absolute(path, siteUrl),
    parent_id: data.parent_id,
    score: data.score,
    created_at: isoTime(data.created_utc),
    is_submitter: data.is_submitter ?? isByAuthor(data, post),
    controversiality: data.controversiality,
  };
}

/** Deleted accounts share one name, so it identifies nobody. */
function isByAuthor({ author, link_author }: UpstreamComment, post: PostOfItem | undefined): boolean {
  return author !== '[deleted]' && author === (link_author ?? post?.author);
}
