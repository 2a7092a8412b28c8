import type { Coverage, CoverageGap, CoverageTotal } from '../../../../schemas/api/coverage.ts';

const hour: CoverageTotal = {
  seen: {
    posts: 61_204,
    comments: 474_918,
    by_source: {
      'post-ids': { posts: 2_310, comments: 0 },
      listings: { posts: 58_894, comments: 466_020 },
      threads: { posts: 0, comments: 8_898 },
    },
  },
  late: 4_120,
  tombstones: 3_871,
  completeness: {
    posts: { share: 1, found: 61_190, unread: 0 },
    comments: { share: 0.991, low: 0.984, high: 0.995, threads: 412 },
  },
  lag_seconds: { p50: 2.1, p95: 14.7, p99: 96.4 },
  gaps: { opened: 1, closed: 1, open: 0 },
  budget: {
    allowed: 24_000,
    used: 22_816,
    by_lane: {
      live: { used: 9_940, refused: 0 },
      groups: { used: 7_310, refused: 120 },
      threads: { used: 4_366, refused: 2_018 },
      audit: { used: 1_200, refused: 0 },
    },
  },
};

const gap: CoverageGap = {
  id: '1207',
  source: 'listings:comments',
  reason: 'overflow',
  opened_at: '2026-03-04T10:12:07.310Z',
  closed_at: '2026-03-04T10:14:52.004Z',
  outcome: 'filled',
  created_from: '2026-03-04T10:11:58.000Z',
  created_to: '2026-03-04T10:12:01.000Z',
  after: 't1_kz81m4q0w7e2a',
  before: 't1_m02x9c7r5bq1d',
  found: 391,
};

/** An hour of a large forum, invented. */
export const coverageExample: Coverage = {
  from: '2026-03-04T10:00:00.000Z',
  to: '2026-03-04T11:00:00.000Z',
  hours: [{ hour: '2026-03-04T10:00:00.000Z', measured_at: '2026-03-04T11:02:10.117Z', ...hour }],
  total: hour,
  gaps: [gap],
  gap_count: 1,
};
