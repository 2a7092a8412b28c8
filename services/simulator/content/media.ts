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
  const resolutions = [108, 216, 320].map((x) => ({
    url: `${PREVIEWS}/${id}.jpg?width=${x}&crop=smart`,
    width: x,
    height: Math.round((x * height) / width),
  }));
  const source = { url: `${PREVIEWS}/${id}.jpg?auto=webp&s=${id}`, width, height };
  return { images: [{ source, resolutions, variants: {}, id }], enabled: true };
}

function gallery(random: SeededRandom): Record<string, unknown> {
  const ids = Array.from({ length: 2 + random.below(6) }, () => mediaId(random));
  const metadata: Record<string, object> = {};
  // As upstream, the map is not in the order of the pictures.
  for (const [rank, id] of [...ids].reverse().entries()) {
    const [x, y] = random.pick(SIZES);
    const animated = rank === 1 && random.chance(0.2);
    const source = animated
      ? { y, gif: `${IMAGES}/${id}.gif`, mp4: `${PREVIEWS}/${id}.gif?format=mp4&s=${id}`, x }
      : { y, x, u: `${PREVIEWS}/${id}.jpg?width=${x}&format=pjpg&auto=webp&s=${id}` };
    const p = [{ y: Math.round((108 * y) / x), x: 108, u: `${PREVIEWS}/${id}.jpg?width=108&crop=smart&s=${id}` }];
    metadata[id] = random.chance(0.02)
      ? { status: 'failed' }
      : {
          status: 'valid',
          e: animated ? 'AnimatedImage' : 'Image',
          m: animated ? 'image/gif' : 'image/jpg',
          p,
          s: source,
          id,
        };
  }
  const items = ids.map((id, rank) => {
    const item = { media_id: id, id: 1_000_000 + random.below(9_000_000) };
    return rank % 3 === 0 ? { ...item, caption: rank === 0 ? 'The first one & the best' : '' } : item;
  });
  return { is_gallery: true, gallery_data: { items }, media_metadata: metadata };
}

function video(random: SeededRandom): Record<string, unknown> {
  const id = mediaId(random);
  const base = `${VIDEOS}/${id}`;
  const reddit_video = {
    bitrate_kbps: 2400,
    fallback_url: `${base}/DASH_720.mp4?source=fallback`,
    has_audio: true,
    height: 720,
    width: 1280,
    scrubber_media_url: `${base}/DASH_96.mp4`,
    dash_url: `${base}/DASHPlaylist.mpd?a=1&v=1`,
    duration: 4 + random.below(90),
    hls_url: `${base}/HLSPlaylist.m3u8?a=1&v=1`,
    is_gif: random.chance(0.1),
    transcoding_status: 'completed',
  };
  const media = { reddit_video };
  const hint = { post_hint: 'hosted:video', preview: preview(id, 1280, 720) };
  return { ...hint, is_video: true, media, secure_media: media, url: base, domain: 'v.forum.example' };
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
  return {
    poll_data: { user_selection: null, options, total_vote_count, voting_end_timestamp: end, is_prediction: false },
  };
}

/** The fields that the form of a post adds; none for texts and crossposts. */
export function mediaFields(seed: number, post: Post, createdAt: number, now: number): Record<string, unknown> {
  const random = new SeededRandom(seed, post.k, PURPOSE.flair);
  switch (post.form) {
    case 'link': {
      const domain = random.pick(['news.example.com', 'example.org', 'blog.example.net']);
      const url = `https://${domain}/${post.number}?utm_source=forum&page=2`;
      return { post_hint: 'link', domain, url, url_overridden_by_dest: url };
    }
    case 'image': {
      const id = mediaId(random);
      const [width, height] = random.pick(SIZES);
      const url = `${IMAGES}/${id}.jpg`;
      const picture = { post_hint: 'image', preview: preview(id, width, height), is_reddit_media_domain: true };
      return { ...picture, domain: 'i.forum.example', url, url_overridden_by_dest: url };
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
