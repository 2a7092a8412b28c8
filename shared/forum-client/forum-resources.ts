import { z } from 'zod';
import type { CommentItem, ForumUser, Subreddit } from '../../schemas/api/reading.ts';
import { fullname } from '../../schemas/messages/forum-item.ts';
import type { Post, PostMedia, PostPoll } from '../../schemas/messages/forum-post.ts';
import {
  commentFields,
  count,
  flag,
  optional,
  permalinkOf,
  postData,
  readable,
  seconds,
  text,
  withPostId,
} from './parse-things.ts';

const source = z.object({
  u: optional(z.string()),
  gif: optional(z.string()),
  mp4: optional(z.string()),
  x: count,
  y: count,
});

/** One file of a gallery. A `status` other than `valid` means that there is nothing to show. Videos have no `s`. */
const mediaFile = z.object({
  status: optional(z.string()),
  s: optional(source),
  hlsUrl: optional(z.string()),
  x: count,
  y: count,
});

const galleryItem = z.object({ media_id: z.string(), caption: text });

/** A video that failed, or is still being processed, has no address. */
const video = z.object({ fallback_url: z.string(), width: count, height: count });
const embeddedMedia = optional(z.object({ reddit_video: optional(video) }));

const previewImage = z.object({ source: z.object({ url: z.string(), width: count, height: count }) });

const pollData = z.object({
  options: readable(z.object({ id: z.union([z.string(), z.number()]).transform(String), text, vote_count: count })),
  total_vote_count: count,
  /** Milliseconds, unlike all other times of the forum. */
  voting_end_timestamp: optional(z.number()),
});

const media = {
  is_video: flag,
  is_gallery: flag,
  media: embeddedMedia,
  secure_media: embeddedMedia,
  gallery_data: optional(z.object({ items: readable(galleryItem) })),
  media_metadata: optional(z.record(z.string(), optional(mediaFile))),
  preview: optional(z.object({ images: readable(previewImage) })),
  post_hint: optional(z.string()),
};

/** A post's `data` for the reading routes. Fields that no route returns are ignored. */
const ownFields = postData.safeExtend({
  ...media,
  domain: text,
  link_flair_text: text,
  spoiler: flag,
  stickied: flag,
  locked: flag,
  upvote_ratio: z
    .number()
    .catch(0)
    .transform((ratio) => Math.min(1, Math.max(0, ratio))),
  removed_by_category: optional(z.string()),
  /** Before removal categories existed: the name of the moderator, or only true. */
  banned_by: optional(z.union([z.string(), z.boolean()])),
  removed: flag,
  /** False where moderators removed the post. */
  poll_data: optional(pollData),
  crosspost_parent: optional(fullname),
});

/** A post with the original of its crosspost. */
export const postSchema = ownFields.safeExtend({ crosspost_parent_list: readable(ownFields) });

export type UpstreamPost = z.infer<typeof postSchema>;
/** A post, or the original of a crosspost. */
type UpstreamPostFields = z.infer<typeof ownFields>;

/** Values that the mapping of every resource needs. */
export interface MappingOptions {
  /** URL of the public site, without a trailing slash. Links begin with it. */
  siteUrl: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** The removal categories that mean deletion by the author. */
const BY_AUTHOR = new Set(['author', 'deleted']);

/** Maps a post to the API's resource, without comments. */
export function toPost(post: UpstreamPost, context: MappingOptions): Post {
  const permalink = absolute(permalinkOf(post), context.siteUrl);
  return {
    id: post.id,
    name: `t3_${post.id}`,
    domain: post.domain,
    is_self: post.is_self ?? false,
    flair: post.link_flair_text,
    spoiler: post.spoiler,
    stickied: post.stickied,
    locked: post.locked,
    removed: isRemoved(post),
    subreddit: post.subreddit ?? '',
    title: post.title,
    author: post.author,
    selftext: post.selftext,
    score: post.score,
    num_comments: Math.max(0, post.num_comments ?? 0),
    upvote_ratio: post.upvote_ratio,
    url: post.url ? absolute(post.url, context.siteUrl) : permalink,
    permalink,
    created_at: isoTime(post.created_utc),
    is_video: post.is_video,
    over_18: post.over_18,
    media: mediaOf(post),
    poll: pollOf(post, context.now),
    crosspost_of: crosspostOf(post, context),
    comments: [],
  };
}

/** Whether anybody but the author removed the post, by category or by the fields of older responses. */
function isRemoved(post: UpstreamPostFields): boolean {
  if (post.removed_by_category !== undefined) return !BY_AUTHOR.has(post.removed_by_category);
  if (post.removed) return true;
  return post.banned_by === true || (typeof post.banned_by === 'string' && post.banned_by !== '');
}

/** For a deleted original only its id is known. */
function crosspostOf(post: UpstreamPost, { siteUrl }: MappingOptions): Post['crosspost_of'] {
  if (post.crosspost_parent === undefined) return null;
  const id = post.crosspost_parent.replace(/^t3_/, '');
  const [parent] = post.crosspost_parent_list;
  return {
    id: parent?.id ?? id,
    subreddit: parent?.subreddit ?? '',
    title: parent?.title ?? '',
    author: parent?.author ?? '',
    permalink: absolute(permalinkOf(parent ?? { id, permalink: undefined }), siteUrl),
  };
}

/** Completes a link of the forum, which is a path of the site or a complete URL. */
export function absolute(link: string, siteUrl: string): string {
  return link.startsWith('/') && !link.startsWith('//') ? siteUrl + link : link;
}

/**
 * Formats a time as ISO 8601.
 *
 * @param seconds since 1970
 */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

const IMAGE_FILE = /\.(?:jpe?g|png|gif|webp|avif)$/i;

/**
 * The media of a post, in order: the pictures of a gallery, one video, or one image. A crosspost without media has
 * those of the original.
 */
export function mediaOf(post: UpstreamPost): PostMedia[] {
  const own = ownMedia(post);
  const [parent] = post.crosspost_parent_list;
  return own.length > 0 || parent === undefined ? own : ownMedia(parent);
}

function ownMedia(post: UpstreamPostFields): PostMedia[] {
  if (post.gallery_data) return galleryOf(post);
  const video = post.secure_media?.reddit_video ?? post.media?.reddit_video;
  if (video) {
    return [{ type: 'video', url: video.fallback_url, width: video.width, height: video.height, caption: '' }];
  }
  // A video that is still being processed has only its address.
  if (post.is_video && post.url) return [{ type: 'video', url: post.url, width: 0, height: 0, caption: '' }];
  return imageOf(post);
}

/** `media_metadata` has no order. Pictures that failed or are still being processed have no source. */
function galleryOf(post: UpstreamPostFields): PostMedia[] {
  const pictures: PostMedia[] = [];
  for (const { media_id: id, caption } of post.gallery_data?.items ?? []) {
    const file = post.media_metadata?.[id];
    const url = file?.s?.u ?? file?.s?.gif ?? file?.s?.mp4 ?? file?.hlsUrl ?? undefined;
    if (!file || url === undefined || (file.status ?? 'valid') !== 'valid') continue;
    const width = file.s?.x ?? file.x;
    const height = file.s?.y ?? file.y;
    pictures.push({ type: 'gallery', url, width, height, caption });
  }
  return pictures;
}

function imageOf(post: UpstreamPostFields): PostMedia[] {
  const url = post.url ?? '';
  if (post.is_self === true || !isImage(post, url)) return [];
  const source = post.preview?.images[0]?.source;
  return [{ type: 'image', url, width: source?.width ?? 0, height: source?.height ?? 0, caption: '' }];
}

/** Old posts, and new ones for some seconds, lack `post_hint`. Then the file name decides. */
function isImage(post: UpstreamPostFields, url: string): boolean {
  if (post.post_hint !== undefined) return post.post_hint === 'image';
  return URL.canParse(url) && IMAGE_FILE.test(new URL(url).pathname);
}

/**
 * The poll of a post; null without one or without options. A poll is closed from its end on.
 *
 * @param now milliseconds since 1970
 */
export function pollOf({ poll_data: poll }: UpstreamPost, now: number): PostPoll | null {
  if (!poll || poll.options.length === 0) return null;
  return {
    total_votes: poll.total_vote_count,
    is_closed: poll.voting_end_timestamp !== undefined && poll.voting_end_timestamp <= now,
    options: poll.options,
  };
}

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
