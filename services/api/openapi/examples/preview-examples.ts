import type { DiffAnswer, PreviewAnswer, PreviewProgress, PreviewSample } from '../../../../schemas/api/rules.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/billing/rules/plans.ts';

const SAMPLE: PreviewSample = {
  thing_id: 't1_k2v9x1a',
  kind: 'comment',
  subreddit: 'programming',
  author: 'ana',
  title: 'Which language next?',
  body: 'We moved to Rust last year.',
  permalink: 'https://www.reddit.com/r/programming/comments/1b6xk0p/_/k2v9x1a/',
  post_id: '1b6xk0p',
  created_utc: '2026-03-04T10:30:00.000Z',
  first_seen_at: '2026-03-04T10:30:02.118Z',
  matched_terms: ['rust'],
  highlights: [{ field: 'body', start: 12, end: 16 }],
};

const EXTENT = {
  exact: true,
  exact_from: '2026-03-01T12:00:00.000Z',
  archive_from: '2026-02-02T12:00:00.000Z',
};

const answer: PreviewAnswer = {
  total: 240,
  ...EXTENT,
  by_day: [
    { day: '2026-03-04', count: 90 },
    { day: '2026-03-03', count: 150 },
  ],
  by_keyword: [{ keyword: 'rust', count: 240 }],
  by_subreddit: [
    { subreddit: 'rust', count: 200 },
    { subreddit: 'programming', count: 40 },
  ],
  samples: [SAMPLE],
  capped_days: [],
  credits_per_30_days: 30 * MONITOR_PERIOD_CREDITS,
  warnings: [],
  suggestions: [
    {
      kind: 'exclude',
      value: 'playrust',
      matches: 21,
      matches_compared: 240,
      stream: 1,
      stream_compared: 5_000,
      lift: 218.8,
      message:
        '21 of 240 matches contain “playrust”, 218.8 times its share of everything. Exclude it if they are not meant.',
    },
  ],
};

const progress: PreviewProgress = { total: 90, exact_from: '2026-03-04T00:00:00.000Z', candidates: 500 };

const diff: DiffAnswer = {
  gained: { total: 0, samples: [] },
  lost: { total: 1, samples: [SAMPLE] },
  kept: { total: 239 },
  ...EXTENT,
};

/** Requests and answers of previews, invented. */
export const previewExamples = {
  body: { settings: { keywords: ['rust'] }, days: 3 },
  answer,
  stream: `event: progress\ndata: ${JSON.stringify(progress)}\n\nevent: result\ndata: ${JSON.stringify(answer)}\n\n`,
  diffBody: { changes: { exclude: ['last year'] }, days: 3 },
  diff,
};
