import type * as forum from '../../../schemas/api/reading.ts';
import type { CommentItem, ForumUser, Subreddit, ThingsResponse } from '../../../schemas/api/reading.ts';
import type { Post } from '../../../schemas/messages/forum-post.ts';
import { inlineText } from '../reading/untrusted-text.ts';
import { excerptOf } from './tool.ts';

type AnyListing = forum.PostListing | forum.SubredditListing | forum.UserListing;

/** A page: one line per item, and how to get the next page. */
export function listingText(listing: AnyListing): string {
  const lines = listing.items.map((item) => `- ${itemLine(item)}`);
  const notes = [
    listing.degraded ? 'This is an older copy, or some items could not be read.' : '',
    listing.filtered_nsfw > 0 ? `${listing.filtered_nsfw} NSFW items left out.` : '',
    listing.after === null ? '' : `Next page: after=${listing.after}`,
  ];
  return [...(lines.length === 0 ? ['Nothing found.'] : lines), ...notes].filter((line) => line !== '').join('\n');
}

function itemLine(item: Post | Subreddit | ForumUser): string {
  if ('selftext' in item) return postLine(item);
  return 'subscribers' in item ? communityLine(item) : userLine(item);
}

export function thingsText({ items, missing }: ThingsResponse): string {
  const lines = items.map((item) =>
    item.kind === 'post' ? `- ${postLine(item.post)}` : `- ${commentLine(item.comment)}`,
  );
  return [...lines, ...(missing.length === 0 ? [] : [`Missing: ${missing.map(inlineText).join(', ')}`])].join('\n');
}

export function subredditText(community: Subreddit): string {
  const about = excerptOf(community.public_description || community.description);
  const rules = community.rules.map(({ short_name }, index) => `${index + 1}. ${inlineText(short_name)}`);
  return [communityLine(community), about, ...(rules.length === 0 ? [] : ['Rules:', ...rules])]
    .filter((line) => line !== '')
    .join('\n');
}

function postLine(post: Post): string {
  const flags = [post.over_18 ? 'NSFW' : '', post.stickied ? 'pinned' : '', post.removed ? 'removed' : ''];
  const facts = [
    post.name,
    `r/${inlineText(post.subreddit)}`,
    `u/${inlineText(post.author)}`,
    `${post.score} points`,
    `${post.num_comments} comments`,
    post.created_at,
    ...flags,
  ];
  const text = excerptOf(post.selftext);
  return `${inlineText(post.title)} (${facts.filter((fact) => fact !== '').join(' · ')})${text === '' ? '' : `: ${text}`}`;
}

function commentLine(comment: CommentItem): string {
  const facts = [
    comment.name,
    `r/${inlineText(comment.subreddit)}`,
    `u/${inlineText(comment.author)}`,
    `${comment.score} points`,
    comment.created_at,
    `on "${inlineText(comment.post_title)}" t3_${comment.post_id}`,
  ];
  return `(${facts.join(' · ')}): ${excerptOf(comment.body)}`;
}

function communityLine(community: Subreddit): string {
  const nsfw = community.over_18 ? ' · NSFW' : '';
  return `r/${inlineText(community.name)}: ${inlineText(community.title)} (${community.type} · ${community.subscribers} subscribers · since ${community.created_at}${nsfw})`;
}

export function userLine(user: ForumUser): string {
  const since = user.created_at === null ? '' : ` · since ${user.created_at}`;
  const flags = [user.suspended ? 'suspended' : '', user.is_employee ? 'employee' : ''].filter((flag) => flag !== '');
  return [
    `u/${inlineText(user.name)}: ${user.total_karma} karma (${user.link_karma} posts, ${user.comment_karma} comments)${since}`,
    ...flags,
  ].join(' · ');
}
