import { accountId } from '../content/authors.ts';
import { communityFields, commentCount, editedAt, removalOf, permalinkOf, scoreAt, SITE } from './render-post.ts';
import type { Thing } from './render-post.ts';
import { toHtml } from './rendered-text.ts';
import type { World } from '../world.ts';

const SCORE_HIDDEN_MS = 15 * 60_000;

/**
 * A comment at `now`. With `depth` it has the fields of a thread view, without it those of a listing (post's title …).
 */
export function renderComment(world: World, k: number, now: number, depth?: number): Thing {
  const { timeline, catalog, threads } = world;
  const comment = catalog.comment(k);
  const { post, author, body: written, lifecycle } = comment;
  const createdAt = timeline.emittedAt(k)!;
  const age = Math.max(0, now - createdAt);
  const removal = removalOf(comment, age);
  const edited = editedAt(lifecycle, createdAt, now);
  const body = removal === 'none' ? (edited === false ? written : `${written}\n\nEdit: wording.`) : `[${removal}]`;
  const hidden = age < SCORE_HIDDEN_MS && post.number % 3 === 0;
  const score = hidden ? 1 : scoreAt(lifecycle, age);
  const seconds = Math.floor(timeline.createdAt(k) / 1000);
  const fields: Record<string, unknown> = communityFields(post);
  delete fields.subreddit_subscribers;
  const data: Record<string, unknown> = {
    ...fields,
    ...(removal === 'none'
      ? { author, author_fullname: `t2_${accountId(timeline.seed, author)}` }
      : { author: '[deleted]' }),
    id: timeline.idOf(k),
    name: timeline.nameOf(k),
    link_id: timeline.nameOf(post.k),
    parent_id: timeline.nameOf(threads.parentOf(k)),
    body,
    body_html: toHtml(body),
    created: seconds,
    created_utc: seconds,
    edited,
    score,
    ups: score,
    score_hidden: hidden,
    controversiality: 0,
    stickied: false,
    locked: false,
    archived: false,
    is_submitter: removal === 'none' && author === post.author,
    distinguished: author === 'AutoModerator' ? 'moderator' : null,
    permalink: permalinkOf(world, post) + timeline.idOf(k) + '/',
    replies: '',
  };
  if (depth === undefined) Object.assign(data, listingFields(world, k, now));
  else data.depth = depth;
  return { kind: 't1', data };
}

function listingFields(world: World, k: number, now: number): Record<string, unknown> {
  const { post } = world.catalog.comment(k);
  const permalink = SITE + permalinkOf(world, post);
  return {
    link_title: post.title,
    link_author: post.author,
    link_permalink: permalink,
    link_url: permalink,
    num_comments: commentCount(world, post, now),
    over_18: post.over18,
    quarantine: false,
  };
}
