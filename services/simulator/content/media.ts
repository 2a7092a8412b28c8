import type { Post } from './catalog.ts';
import { SeededRandom, PURPOSE } from './seeded-random.ts';

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
