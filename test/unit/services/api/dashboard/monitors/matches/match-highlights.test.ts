import { expect, test } from 'vitest';
import type { MonitorMatch } from '../../../../../../../schemas/messages/monitor-match.ts';
import { matchHighlighter } from '../../../../../../../services/api/dashboard/monitors/matches/match-highlights.ts';

const MATCH: MonitorMatch = {
  id: 'mat_x_000000000001',
  monitor_id: 'mon_x',
  thing_id: 't1_a',
  kind: 'comment',
  subreddit: 'jobs',
  author: 'ana',
  title: 'Hiring: Rust',
  body: 'We write RUST, not iron. Rusty!',
  permalink: 'https://example.com/',
  post_id: 'p',
  created_utc: '2026-01-01T00:00:00.000Z',
  matched_terms: ['rust'],
  suppressed: false,
  delivery_status: 'none',
  created_at: '2026-01-01T00:00:00.000Z',
};
const RULE = {
  keywords: ['rust', 'write'],
  exclude: ['we'],
  subreddits: ['x'],
  posts: false,
  comments: false,
  nsfw: false,
};

test('marks the terms of the match, whatever else the rule says today', () => {
  const highlightsOf = matchHighlighter(RULE);
  expect(highlightsOf(MATCH)).toEqual({ title: [], body: [{ start: 9, end: 13 }] });
  expect(highlightsOf({ ...MATCH, kind: 'post' })).toEqual({
    title: [{ start: 8, end: 12 }],
    body: [{ start: 9, end: 13 }],
  });
});
