import type { ForumItem } from '../../../schemas/messages/forum-item.ts';
import type { CommentData, PostData, Thing } from './thing-schema.ts';
import { fullnameOf } from './thing-schema.ts';

/** What a comment has to know of its post. */
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
  /** The public site, without a slash at the end: permalinks begin with it. */
  siteUrl: string;
}

/** True for a comment that carries its post's title and NSFW flag itself, as user, community and site listings do. */
export function hasPostDetails(comment: CommentData): boolean {
  return !!comment.link_title && typeof comment.over_18 === 'boolean';
}

/**
 * A post or comment in the service's own form. What a comment says of its post goes before `post`; where neither knows,
 * the title is empty and the comment counts as NSFW, because showing it to a monitor without NSFW would be the worse
 * mistake.
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
  };
  return thing.kind === 't3'
    ? { ...shared, ...postFields(thing.data, origin.siteUrl) }
    : { ...shared, ...commentItemFields(thing.data, origin.siteUrl, post) };
}

function postFields(data: PostData, siteUrl: string) {
  const permalink = absolute(siteUrl, data.permalink);
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
