import type { Post } from '../../../schemas/messages/forum-post.ts';
import { mediaOf, pollOf } from './post-media.ts';
import type { UpstreamPostFields, UpstreamPost } from './post-schema.ts';
import { permalinkOf } from './thing-schema.ts';

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
