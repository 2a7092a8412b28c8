import type { Comment, Lifecycle, Post } from './catalog.ts';
import { SeededRandom, PURPOSE } from './seeded-random.ts';
import { mediaFields } from './media.ts';
import type { World } from '../world.ts';

export interface Thing {
  kind: string;
  data: Record<string, unknown>;
}

/** As the real site's API writes links to itself, whatever the address of this one. */
export const SITE = 'https://www.reddit.com';
const SCORE_GROWTH_MS = 3 * 3_600_000;

export function scoreAt(lifecycle: Lifecycle, age: number): number {
  return 1 + Math.round(lifecycle.finalScore * (1 - Math.exp(-age / SCORE_GROWTH_MS)));
}

export function permalinkOf(world: World, post: Post): string {
  return `/r/${post.community.name}/comments/${world.timeline.idOf(post.k)}/${post.slug}/`;
}

type Removal = 'none' | 'removed' | 'deleted';

export function removalOf({ lifecycle }: Post | Comment, age: number): Removal {
  if (lifecycle.removedAtOnce || age >= lifecycle.removedAfter) return 'removed';
  return age >= lifecycle.deletedAfter ? 'deleted' : 'none';
}

export function textAt(written: string, lifecycle: Lifecycle, removal: Removal, age: number): string {
  if (written === '') return '';
  if (removal !== 'none') return `[${removal}]`;
  return age >= lifecycle.editedAfter ? `${written}\n\nEdit: wording.` : written;
}

function textFields(post: Post, removal: Removal, age: number): Record<string, unknown> {
  return {
    selftext: textAt(post.selftext, post.lifecycle, removal, age),
    removed_by_category:
      removal === 'none'
        ? null
        : removal === 'deleted'
          ? 'deleted'
          : post.lifecycle.removedAtOnce
            ? 'automod_filtered'
            : 'moderator',
  };
}

function flairFields(world: World, post: Post): Record<string, unknown> {
  const random = new SeededRandom(world.timeline.seed, post.k, PURPOSE.score);
  if (!random.chance(0.3)) return {};
  const text = random.pick(['Question', 'Discussion', 'Show & tell', 'Meta']);
  return { link_flair_text: text };
}

/** A post as the upstream shows it at `now`. `nested`: the original inside a crosspost, without crosspost fields. */
export function renderPost(world: World, k: number, now: number, nested = false): Thing {
  const { timeline, catalog } = world;
  const post = catalog.post(k);
  const createdAt = timeline.emittedAt(k)!;
  const age = Math.max(0, now - createdAt);
  const removal = removalOf(post, age);
  const score = scoreAt(post.lifecycle, age);
  const permalink = permalinkOf(world, post);
  const isSelf = post.form === 'self' || post.form === 'poll';
  const data: Record<string, unknown> = {
    ...communityFields(post),
    author: removal === 'deleted' ? '[deleted]' : post.author,
    id: timeline.idOf(k),
    name: timeline.nameOf(k),
    title: removal === 'deleted' ? '[deleted by user]' : post.title,
    ...textFields(post, removal, age),
    created_utc: Math.floor(timeline.createdAt(k) / 1000),
    domain: isSelf ? `self.${post.community.name}` : 'reddit.com',
    url: post.form === 'gallery' ? `${SITE}/gallery/${timeline.idOf(k)}` : SITE + permalink,
    permalink,
    is_self: isSelf,
    over_18: post.over18,
    spoiler: post.spoiler,
    score,
    upvote_ratio: Math.round((score < 1 ? 0.35 : 1 - 0.4 / (1 + Math.log1p(score))) * 100) / 100,
    num_comments: world.threads.visibleCount(post.number, now),
    stickied: false,
    locked: false,
    is_video: false,
    ...flairFields(world, post),
    ...(removal === 'removed' && post.form === 'gallery'
      ? { is_gallery: true, gallery_data: null, media_metadata: null }
      : mediaFields(timeline.seed, post, createdAt, now)),
  };
  if (post.original !== undefined && !nested) Object.assign(data, crosspostFields(world, post, now));
  return { kind: 't3', data };
}

export function communityFields(post: Post): Record<string, unknown> {
  return { subreddit: post.community.name, subreddit_id: `t5_${post.community.id}` };
}

function crosspostFields(world: World, post: Post, now: number): Record<string, unknown> {
  const original = renderPost(world, world.catalog.postNumbered(post.original!).k, now, true).data;
  return {
    crosspost_parent: original.name,
    crosspost_parent_list: [original],
    url: String(original.permalink),
    domain: `self.${String(original.subreddit)}`,
    post_hint: 'link',
  };
}

/** The last part of a permalink: lower-case words of the title, at most 50 characters; `_` if nothing remains. */
export function slugOf(title: string): string {
  const words = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_|_$/g, '');
  const slug = Array.from(words).slice(0, 50).join('').replace(/_$/, '');
  return slug === '' ? '_' : slug;
}
