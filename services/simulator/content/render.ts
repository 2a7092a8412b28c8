import type { World } from '../world.ts';
import { accountId, accountStatusOf, numberOf } from './authors.ts';
import type { Comment, Lifecycle, Post } from './catalog.ts';
import type { Community } from './community-directory.ts';
import { PURPOSE, SeededRandom } from './seeded-random.ts';

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

/** Pictures and videos have URLs, but nothing serves them. The domains are reserved for examples. */
const IMAGES = 'https://i.forum.example';
const PREVIEWS = 'https://preview.forum.example';
const VIDEOS = 'https://v.forum.example';
const DAY = 86_400_000;
const SIZES = [
  [1920, 1080],
  [1080, 1350],
  [640, 480],
  [3024, 4032],
] as const;

function mediaId(random: SeededRandom): string {
  return Array.from({ length: 13 }, () => random.below(36).toString(36)).join('');
}

function preview(id: string, width: number, height: number): object {
  return { images: [{ source: { url: `${PREVIEWS}/${id}.jpg?auto=webp&s=${id}`, width, height } }] };
}

function gallery(random: SeededRandom): Record<string, unknown> {
  const ids = Array.from({ length: 2 + random.below(6) }, () => mediaId(random));
  const metadata: Record<string, object> = {};
  // As upstream, the map is not in the order of the pictures.
  for (const [rank, id] of [...ids].reverse().entries()) {
    const [x, y] = random.pick(SIZES);
    const animated = rank === 1 && random.chance(0.2);
    const s = animated
      ? { y, gif: `${IMAGES}/${id}.gif`, mp4: `${PREVIEWS}/${id}.gif?format=mp4&s=${id}`, x }
      : { y, x, u: `${PREVIEWS}/${id}.jpg?width=${x}&format=pjpg&auto=webp&s=${id}` };
    metadata[id] = random.chance(0.02) ? { status: 'failed' } : { status: 'valid', s, id };
  }
  const items = ids.map((id, rank) => {
    const item = { media_id: id, id: 1_000_000 + random.below(9_000_000) };
    return rank % 3 === 0 ? { ...item, caption: rank === 0 ? 'The first one & the best' : '' } : item;
  });
  return { is_gallery: true, gallery_data: { items }, media_metadata: metadata };
}

function video(random: SeededRandom): Record<string, unknown> {
  const id = mediaId(random);
  const url = `${VIDEOS}/${id}`;
  const media = { reddit_video: { fallback_url: `${url}/DASH_720.mp4?source=fallback`, height: 720, width: 1280 } };
  const hint = { post_hint: 'hosted:video', preview: preview(id, 1280, 720) };
  return { ...hint, is_video: true, media, secure_media: media, url, domain: 'v.forum.example' };
}

function poll(random: SeededRandom, createdAt: number, now: number): Record<string, unknown> {
  const texts = ['Yes', 'No', 'Only on Sundays', 'Show me the results'].slice(0, 2 + random.below(3));
  const end = Math.floor(createdAt) + 3 * DAY;
  // The votes per option are public only after the end of the poll.
  const options = texts.map((text) => {
    const option = { text, id: String(10_000_000 + random.below(9_000_000)) };
    const votes = random.below(900);
    return now > end ? { ...option, vote_count: votes } : option;
  });
  const total_vote_count = 40 + random.below(2000);
  return { poll_data: { options, total_vote_count, voting_end_timestamp: end } };
}

export function mediaFields(seed: number, post: Post, createdAt: number, now: number): Record<string, unknown> {
  const random = new SeededRandom(seed, post.k, PURPOSE.flair);
  switch (post.form) {
    case 'link': {
      const domain = random.pick(['news.example.com', 'example.org', 'blog.example.net']);
      const url = `https://${domain}/${post.number}?utm_source=forum&page=2`;
      return { post_hint: 'link', domain, url };
    }
    case 'image': {
      const id = mediaId(random);
      const [width, height] = random.pick(SIZES);
      const url = `${IMAGES}/${id}.jpg`;
      return { post_hint: 'image', preview: preview(id, width, height), domain: 'i.forum.example', url };
    }
    case 'gallery':
      return gallery(random);
    case 'video':
      return video(random);
    case 'poll':
      return poll(random, createdAt, now);
    case 'self':
    case 'crosspost':
      return {};
  }
}

const RULES: readonly (readonly [kind: string, name: string, description: string])[] = [
  ['all', 'Be kind', 'Speak to others as you would at a shared table.'],
  ['link', 'Say where pictures come from', 'Name the source & the author.'],
  ['comment', 'Stay near the subject', ''],
];

export function renderRules(community: Community): object {
  const rules = RULES.map(([kind, short_name, description], priority) => ({
    ...{ kind, short_name, description, violation_reason: short_name, priority },
    created_utc: community.created + 60,
  }));
  return { rules };
}

export function renderCommunity(community: Community): Thing {
  const { name, title, description, id, over18, type, subscribers, created } = community;
  return {
    kind: 't5',
    data: {
      id,
      name: `t5_${id}`,
      display_name: name,
      title,
      public_description: description,
      description: `# ${title}\n\n${description}`,
      url: `/r/${name}/`,
      icon_img: '',
      community_icon: '',
      subscribers,
      created_utc: created,
      over18,
      subreddit_type: type === 'quarantined' || type === 'banned' ? 'public' : type,
    },
  };
}

const FIRST_ACCOUNTS = 1_300_000_000;
const NINE_YEARS = 284_000_000;

/** A suspended account shows nothing else. Undefined for a shadow-banned one, which is not found. */
export function renderUser(seed: number, name: string): Thing | undefined {
  const status = accountStatusOf(seed, name);
  if (status === 'shadow-banned') return undefined;
  if (status === 'suspended') return { kind: 't2', data: { name, is_suspended: true } };
  const number = numberOf(seed, name);
  const link_karma = number % 9000;
  const comment_karma = (number >>> 8) % 70_000;
  return {
    kind: 't2',
    data: {
      id: accountId(seed, name),
      name,
      created_utc: FIRST_ACCOUNTS + (number % NINE_YEARS),
      link_karma,
      comment_karma,
      total_karma: link_karma + comment_karma,
      icon_img: `https://i.forum.example/avatars/${number % 20}.png?width=256&crop=smart`,
      snoovatar_img: '',
      has_verified_email: number % 5 !== 0,
      is_employee: false,
      is_mod: number % 11 === 0,
    },
  };
}
