import type { HourCoverage } from '../../../shared/domain/coverage/hour-coverage.ts';
import { lagQuantiles } from '../../../shared/domain/coverage/lag-histogram.ts';
import { postShare } from '../../../shared/domain/coverage/post-share.ts';
import type { ArchivedGroup } from '../../../shared/stores/crawl/archived-hours.ts';

/** Adds up the groups of an hour. The lags of the backlog and of items of dump files say nothing about this service. */
export function countedItems(groups: readonly ArchivedGroup[]): Pick<HourCoverage, 'seen' | 'late' | 'lags'> {
  const seen: Record<string, { posts: number; comments: number }> = {};
  const lags: Record<string, number> = {};
  let late = 0;
  for (const group of groups) {
    const source = (seen[group.source] ??= { posts: 0, comments: 0 });
    source[group.kind === 'post' ? 'posts' : 'comments'] += group.items;
    late += group.late;
    if (group.source !== 'replay' && !group.isBacklog) lags[group.bucket] = (lags[group.bucket] ?? 0) + group.items;
  }
  return { seen, late, lags };
}

/** The row of an hour in the archive's table coverage_hours. Times in milliseconds since 1970. */
export function coverageRow(hour: number, coverage: HourCoverage, computedAt: number): Record<string, unknown> {
  const { seen, late, lags, tombstones, posts, comments } = coverage;
  const bySource = Object.entries(seen);
  const [p50, p95, p99] = lagQuantiles(lags, [0.5, 0.95, 0.99]) ?? [null, null, null];
  return {
    hour: hour / 1000,
    posts: bySource.reduce((sum, [, counts]) => sum + counts.posts, 0),
    comments: bySource.reduce((sum, [, counts]) => sum + counts.comments, 0),
    late,
    removed: tombstones,
    items_by_source: Object.fromEntries(bySource.map(([source, counts]) => [source, counts.posts + counts.comments])),
    lag_p50_seconds: p50,
    lag_p95_seconds: p95,
    lag_p99_seconds: p99,
    post_completeness: posts === null ? null : (postShare(posts) ?? null),
    comment_completeness: comments?.share ?? null,
    comment_completeness_low: comments?.low ?? null,
    comment_completeness_high: comments?.high ?? null,
    audited_threads: comments?.threads ?? 0,
    computed_at: new Date(computedAt).toISOString(),
  };
}
