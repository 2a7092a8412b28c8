/** Invented answers of the forum in the shape of real ones, with every kind of thing that the reading routes return. */

export const POST = {
  id: '1abcde',
  name: 't3_1abcde',
  author: 'smith',
  subreddit: 'metals',
  created_utc: 1_790_000_000.0,
  title: 'On rust',
  selftext: 'Iron, water and air.',
  over_18: false,
  permalink: '/r/metals/comments/1abcde/on_rust/',
  url: 'https://www.reddit.com/r/metals/comments/1abcde/on_rust/',
  is_self: true,
  score: 12,
  num_comments: 3,
  domain: 'self.metals',
  link_flair_text: 'Question',
  spoiler: false,
  stickied: false,
  locked: false,
  upvote_ratio: 0.93,
  removed_by_category: null,
  banned_by: null,
  is_video: false,
  media: null,
  secure_media: null,
  edited: false,
};

export const GALLERY = {
  ...POST,
  id: '1galle',
  is_self: false,
  is_gallery: true,
  url: 'https://www.reddit.com/gallery/1galle',
  gallery_data: {
    items: [
      { media_id: 'b', id: 2, caption: 'second in the map, first in the order' },
      { media_id: 'a', id: 1 },
      { media_id: 'failed', id: 3 },
      { media_id: 'gone', id: 4 },
    ],
  },
  media_metadata: {
    a: { status: 'valid', e: 'Image', s: { u: 'https://i.example/a.jpg', x: 640, y: 480 }, p: [] },
    b: {
      status: 'valid',
      e: 'AnimatedImage',
      s: { gif: 'https://i.example/b.gif', mp4: 'https://i.example/b.mp4', x: 10, y: 20 },
    },
    failed: { status: 'failed' },
  },
};

export const POLL = {
  ...POST,
  id: '1polls',
  poll_data: {
    options: [
      { id: '1', text: 'Yes', vote_count: 3 },
      { id: '2', text: 'No' },
    ],
    total_vote_count: 7,
    voting_end_timestamp: 1_790_000_500_000,
  },
};

const VIDEO_MEDIA = {
  reddit_video: { fallback_url: 'https://v.example/1/720', width: 1280, height: 720, duration: 8, is_gif: false },
};
export const VIDEO = {
  ...POST,
  id: '1video',
  is_self: false,
  is_video: true,
  url: 'https://v.redd.it/1',
  media: VIDEO_MEDIA,
  secure_media: VIDEO_MEDIA,
};

export const CROSSPOST = {
  ...POST,
  id: '1cross',
  is_self: false,
  url: '/r/metals/comments/1video/on_rust/',
  crosspost_parent: 't3_1video',
  crosspost_parent_list: [VIDEO],
};

export const IMAGE = {
  ...POST,
  id: '1image',
  is_self: false,
  url: 'https://i.redd.it/x.jpeg',
  post_hint: 'image',
  preview: { images: [{ source: { url: 'https://preview.example/x', width: 300, height: 200 }, resolutions: [] }] },
};

export const COMMENT = {
  id: 'k1abcde',
  name: 't1_k1abcde',
  author: 'jones',
  subreddit: 'metals',
  created_utc: 1_790_000_100.0,
  body: 'Oil helps.',
  parent_id: 't3_1abcde',
  link_id: 't3_1abcde',
  link_title: 'On rust',
  over_18: false,
  permalink: '/r/metals/comments/1abcde/on_rust/k1abcde/',
  score: 4,
  is_submitter: false,
  controversiality: 0,
  score_hidden: false,
  replies: '',
};

export const SUBREDDIT = {
  display_name: 'metals',
  title: 'Metals',
  public_description: 'All about metals',
  description: 'Long text',
  url: '/r/metals/',
  icon_img: '',
  community_icon: 'https://styles.example/icon.png?width=256&s=1',
  subreddit_type: 'public',
  subscribers: 1234,
  created_utc: 1_200_000_000.0,
  over18: false,
};

export const RULES = {
  rules: [
    {
      kind: 'all',
      short_name: 'Be kind',
      description: 'Please',
      violation_reason: 'Unkind',
      priority: 0,
      created_utc: 1_300_000_000.0,
    },
    { kind: 'comment', short_name: 'No puns', violation_reason: 'A pun', priority: 1, created_utc: 1_300_000_000.0 },
  ],
  site_rules: [],
};

export const USER = {
  name: 'smith',
  created_utc: 1_100_000_000.0,
  link_karma: 10,
  comment_karma: 20,
  total_karma: 33,
  is_employee: false,
  is_mod: true,
  has_verified_email: true,
  icon_img: 'https://styles.example/smith.png',
  snoovatar_img: '',
  subreddit: { over_18: false },
};

export const nodeOf = (kind: string, data: unknown) => ({ kind, data });
export const listingOf = (...children: unknown[]) => ({
  kind: 'Listing',
  data: { after: 't3_1last', before: null, dist: children.length, children },
});
