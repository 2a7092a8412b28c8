import { LATE_AFTER_MS } from '../../schemas/messages/forum-item.ts';
import type { ForumItem } from '../../schemas/messages/forum-item.ts';
import type { CommentData, PostData, Thing } from './thing-schema.ts';
import { fullnameOf, permalinkOf } from './thing-schema.ts';

/** The fields that a comment needs from its post. */
export interface PostOfComment {
  title: string;
  nsfw: boolean;
}

export interface ItemOrigin {
  /** Name of the crawl source. */
  source: string;
  replay: boolean;
  /** Milliseconds since 1970. */
  firstSeenAt: number;
  /** URL of the public site, without a trailing slash. Permalinks begin with it. */
  siteUrl: string;
}

/** Whether a comment has the title and NSFW flag of its post, as in user, community and site listings. */
export function hasPostDetails(comment: CommentData): boolean {
  return !!comment.link_title && typeof comment.over_18 === 'boolean';
}

/**
 * Converts a post or comment to the service's own format. The comment's own title and NSFW flag take precedence over
 * `post`. When neither has them, the title is empty and the comment counts as NSFW, because showing it to a monitor
 * without NSFW would be the worse mistake.
 */
export function thingToForumItem(thing: Thing, origin: ItemOrigin, post?: PostOfComment): ForumItem {
  const shared = {
    v: 1 as const,
    thing_id: fullnameOf(thing),
    subreddit: thing.data.subreddit ?? '',
    author: thing.data.author,
    created_utc: new Date(thing.data.created_utc * 1000).toISOString(),
    source: origin.source,
    replay: origin.replay,
    first_seen_at: new Date(origin.firstSeenAt).toISOString(),
    score: thing.data.score,
    ...(isLate(thing, origin) ? { late: true as const } : {}),
  };
  return thing.kind === 't3'
    ? { ...shared, ...postFields(thing.data, origin.siteUrl) }
    : { ...shared, ...commentItemFields(thing.data, origin.siteUrl, post) };
}

function isLate(thing: Thing, { replay, firstSeenAt }: ItemOrigin): boolean {
  return !replay && firstSeenAt - thing.data.created_utc * 1000 > LATE_AFTER_MS;
}

function postFields(data: PostData, siteUrl: string) {
  const permalink = absolute(siteUrl, permalinkOf(data));
  const target = data.is_self === true || !data.url ? permalink : absolute(siteUrl, data.url);
  return {
    kind: 'post' as const,
    post_id: data.id,
    parent_id: null,
    title: data.title,
    body: data.selftext,
    permalink,
    nsfw: data.over_18,
    num_comments: data.num_comments ?? null,
    url: target,
  };
}

function commentItemFields(data: CommentData, siteUrl: string, post: PostOfComment | undefined) {
  const path = data.permalink ?? `/r/${data.subreddit}/comments/${data.post_id}/_/${data.id}/`;
  return {
    kind: 'comment' as const,
    post_id: data.post_id,
    parent_id: data.parent_id,
    title: data.link_title || (post?.title ?? ''),
    body: data.body,
    permalink: absolute(siteUrl, path),
    nsfw: data.over_18 ?? post?.nsfw ?? true,
    num_comments: null,
    url: null,
  };
}

function absolute(siteUrl: string, path: string): string {
  return path.startsWith('/') && !path.startsWith('//') ? siteUrl + path : path;
}
