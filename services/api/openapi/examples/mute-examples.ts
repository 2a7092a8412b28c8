import type { MonitorMute } from '../../../../schemas/api/monitors.ts';

const mute: MonitorMute = {
  id: 'mute_7h2n4x9b3c6d',
  kind: 'author',
  value: 'daily_deals_bot',
  created_at: '2026-03-04T10:30:00.000Z',
};

/** Requests and answers of the routes about mutes, invented. */
export const muteExamples = {
  id: mute.id,
  author: { kind: 'author', value: 'u/daily_deals_bot' },
  thread: { kind: 'thread', value: 'https://www.reddit.com/r/Coffee/comments/1b6xk0p/' },
  mute: { mute },
  list: {
    items: [mute, { ...mute, id: 'mute_8k3p5y0c4d7e', kind: 'subreddit', value: 'coffeeswap' }],
    limit: 500,
  },
};
