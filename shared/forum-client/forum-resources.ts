import { z } from 'zod';
import type { CommentItem, ForumUser, Subreddit } from '../../schemas/api/reading.ts';
import { commentFields, count, flag, optional, readable, seconds, text, withPostId } from './thing-schema.ts';
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
type UpstreamComment = z.infer<typeof commentSchema>;

/** Fields of the post that a comment may lack. */
interface PostOfItem {
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

/** A community's `data`. Private ones contain little more than their name. */
export const subredditSchema = z.object({
  display_name: z.string(),
  title: text,
  public_description: text,
  description: text,
  url: text,
  icon_img: text,
  community_icon: text,
  subreddit_type: text,
  subscribers: count,
  created_utc: seconds.catch(0),
  over18: flag,
});
type UpstreamSubreddit = z.infer<typeof subredditSchema>;

/** The response of /about/rules, which is not a Listing. Not every community has one. */
export const rulesSchema = z
  .object({
    rules: readable(
      z.object({
        kind: text,
        short_name: text,
        description: text,
        violation_reason: text,
        priority: optional(z.number().int()),
        created_utc: optional(seconds),
      }),
    ),
  })
  .catch({ rules: [] });
type UpstreamRules = z.infer<typeof rulesSchema>;

export function toSubreddit(
  data: UpstreamSubreddit,
  { siteUrl }: MappingOptions,
  rules: UpstreamRules = { rules: [] },
): Subreddit {
  return {
    name: data.display_name,
    title: data.title,
    public_description: data.public_description,
    description: data.description,
    url: absolute(data.url === '' ? `/r/${data.display_name}/` : data.url, siteUrl),
    icon: data.community_icon === '' ? data.icon_img : data.community_icon,
    type: data.subreddit_type,
    subscribers: data.subscribers,
    created_at: isoTime(data.created_utc),
    over_18: data.over18,
    rules: rules.rules.map((rule, index) => ({
      kind: rule.kind,
      short_name: rule.short_name,
      description: rule.description,
      violation_reason: rule.violation_reason,
      priority: rule.priority ?? index,
      created_at: isoTime(rule.created_utc ?? data.created_utc),
    })),
  };
}

const karma = optional(z.number().int());

/** An account's `data`. A suspended account has a name and the flag, and nothing else. */
export const userSchema = z.object({
  name: z.string(),
  created_utc: optional(seconds),
  link_karma: karma,
  comment_karma: karma,
  total_karma: karma,
  is_employee: flag,
  is_mod: flag,
  has_verified_email: flag,
  is_suspended: flag,
  icon_img: text,
  snoovatar_img: text,
});
type UpstreamUser = z.infer<typeof userSchema>;

export function toForumUser(data: UpstreamUser): ForumUser {
  const linkKarma = data.link_karma ?? 0;
  const commentKarma = data.comment_karma ?? 0;
  return {
    name: data.name,
    created_at: data.created_utc === undefined ? null : isoTime(data.created_utc),
    link_karma: linkKarma,
    comment_karma: commentKarma,
    // Older responses lack it. Karma of awards, which it includes, is unknown then.
    total_karma: data.total_karma ?? linkKarma + commentKarma,
    is_employee: data.is_employee,
    is_mod: data.is_mod,
    has_verified_email: data.has_verified_email,
    suspended: data.is_suspended,
    icon: data.icon_img === '' ? data.snoovatar_img : data.icon_img,
  };
}
