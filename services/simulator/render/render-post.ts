import { accountId } from '../content/authors.ts';
import type { Comment, Lifecycle, Post } from '../content/catalog.ts';
import { SeededRandom, PURPOSE } from '../content/seeded-random.ts';
import { mediaFields } from '../content/media.ts';
import type { World } from '../world.ts';

export interface Thing {
  kind: string;
  data: Record<string, unknown>;
}

/** As the real site's API writes links to itself, whatever the address of this one. */
export const SITE = 'https://www.reddit.com';
const SCORE_GROWTH_MS = 3 * 3_600_000;

/** Scores approach their final value as the item ages. */
export function scoreAt(lifecycle: Lifecycle, age: number): number {
  return 1 + Math.round(lifecycle.finalScore * (1 - Math.exp(-age / SCORE_GROWTH_MS)));
}

export function permalinkOf(world: World, post: Post): string {
  return `/r/${post.community.name}/comments/${world.timeline.idOf(post.k)}/${post.slug}/`;
}

/** The number of comments of the post that became visible. */
export function commentCount(world: World, post: Post, now: number): number {
  return world.threads.visibleCount(post.number, now);
}

type Removal = 'none' | 'removed' | 'deleted';

export function removalOf({ lifecycle }: Post | Comment, age: number): Removal {
  if (lifecycle.removedAtOnce || age >= lifecycle.removedAfter) return 'removed';
  return age >= lifecycle.deletedAfter ? 'deleted' : 'none';
}

/** The time of the edit in seconds since 1970; false if the item is not edited at `now`. */
export function editedAt(lifecycle: Lifecycle, createdAt: number, now: number): number | false {
  return now - createdAt >= lifecycle.editedAfter ? Math.floor((createdAt + lifecycle.editedAfter) / 1000) : false;
}

function textFields(post: Post, removal: Removal, edited: number | false): Record<string, unknown> {
  let selftext = post.selftext;
  if (removal !== 'none' && selftext !== '') selftext = `[${removal}]`;
  else if (edited !== false && selftext !== '') selftext += '\n\nEdit: wording.';
  return {
    selftext,
    selftext_html: selftext === '' ? null : selfTextHtml(selftext),
    edited: selftext === '' ? false : edited,
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

function authorFields(world: World, post: Post, removal: Removal): Record<string, unknown> {
  if (removal === 'deleted') return { author: '[deleted]' };
  return { author: post.author, author_fullname: `t2_${accountId(world.timeline.seed, post.author)}` };
}

function flairFields(world: World, post: Post): Record<string, unknown> {
  const random = new SeededRandom(world.timeline.seed, post.k, PURPOSE.score);
  if (!random.chance(0.3)) return {};
  const text = random.pick(['Question', 'Discussion', 'Show & tell', 'Meta']);
  return { link_flair_text: text, link_flair_css_class: '', link_flair_background_color: '#edeff1' };
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
    ...authorFields(world, post, removal),
    id: timeline.idOf(k),
    name: timeline.nameOf(k),
    title: removal === 'deleted' ? '[deleted by user]' : post.title,
    ...textFields(post, removal, editedAt(post.lifecycle, createdAt, now)),
    created: Math.floor(timeline.createdAt(k) / 1000),
    created_utc: Math.floor(timeline.createdAt(k) / 1000),
    domain: isSelf ? `self.${post.community.name}` : 'reddit.com',
    url: post.form === 'gallery' ? `${SITE}/gallery/${timeline.idOf(k)}` : SITE + permalink,
    permalink,
    is_self: isSelf,
    over_18: post.over18,
    spoiler: post.spoiler,
    score,
    ups: score,
    upvote_ratio: Math.round((score < 1 ? 0.35 : 1 - 0.4 / (1 + Math.log1p(score))) * 100) / 100,
    num_comments: commentCount(world, post, now),
    num_crossposts: 0,
    thumbnail: post.over18 ? 'nsfw' : isSelf ? 'self' : 'default',
    stickied: false,
    locked: false,
    archived: false,
    is_video: false,
    distinguished: post.author === 'AutoModerator' ? 'moderator' : null,
    ...flairFields(world, post),
    ...(removal === 'removed' && post.form === 'gallery'
      ? { is_gallery: true, gallery_data: null, media_metadata: null }
      : mediaFields(timeline.seed, post, createdAt, now)),
  };
  if (post.original !== undefined && !nested) Object.assign(data, crosspostFields(world, post, now));
  return { kind: 't3', data };
}

export function communityFields(post: Post): Record<string, unknown> {
  const { name, id, type, subscribers } = post.community;
  return {
    subreddit: name,
    subreddit_id: `t5_${id}`,
    subreddit_name_prefixed: `r/${name}`,
    subreddit_type: type,
    subreddit_subscribers: subscribers,
  };
}

function crosspostFields(world: World, post: Post, now: number): Record<string, unknown> {
  const original = renderPost(world, world.catalog.postNumbered(post.original!).k, now, true).data;
  return {
    crosspost_parent: original.name,
    crosspost_parent_list: [original],
    url: String(original.permalink),
    url_overridden_by_dest: String(original.permalink),
    domain: `self.${String(original.subreddit)}`,
    post_hint: 'link',
  };
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The HTML of a Markdown text. It only splits paragraphs, because the product reads the Markdown. */
export function toHtml(markdown: string): string {
  const paragraphs = markdown.split('\n\n').map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`);
  return `<div class="md">${paragraphs.join('\n\n')}\n</div>`;
}

export function selfTextHtml(markdown: string): string {
  return `<!-- SC_OFF -->${toHtml(markdown)}<!-- SC_ON -->`;
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
