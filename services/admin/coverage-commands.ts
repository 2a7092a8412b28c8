import { hourCoverage } from '../../shared/domain/coverage/hour-coverage.ts';
import { lagQuantiles } from '../../shared/domain/coverage/lag-histogram.ts';
import { postShare } from '../../shared/domain/coverage/estimate-completeness.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { readCoverageHours } from '../../shared/stores/crawl/coverage-hours.ts';
import type { ReadCoverage } from '../../shared/stores/crawl/coverage-hours.ts';
import { countGapsByHour } from '../../shared/stores/crawl/coverage-sources.ts';
import type { HourGaps } from '../../shared/stores/crawl/coverage-sources.ts';
import type { PostgresCommand } from './command.ts';
import { hoursOption } from './hours-option.ts';

const DEFAULT_HOURS = 24;
const MAX_HOURS = 31 * 24;
const HOUR_MS = 3_600_000;

export const COVERAGE: PostgresCommand = {
  name: 'coverage',
  summary: 'print what was seen of each hour, how late and how completely, newest first',
  optionsHelp: [`--hours N              the last N hours, default ${DEFAULT_HOURS}`],
  examples: ['coverage', 'coverage --hours 168 --json'],
  isList: true,
  options: { hours: { type: 'string' } },
  prepare(values) {
    const hours = hoursOption(values, { most: MAX_HOURS, byDefault: DEFAULT_HOURS });
    return async (pool) => {
      const to = Math.ceil(systemClock() / HOUR_MS) * HOUR_MS;
      const [from, end] = [new Date(to - hours * HOUR_MS), new Date(to)];
      const [covered, gaps] = await Promise.all([readCoverageHours(pool, from, end), countGapsByHour(pool, from, end)]);
      const gapsOf = new Map(gaps.map((counts) => [counts.hour.getTime(), counts]));
      return covered.reverse().flatMap((row) => toLine(row, gapsOf.get(row.hour.getTime())));
    };
  },
};

/** Shares in percent, lags in seconds. An hour of a version that cannot be read is left out. */
function toLine(row: ReadCoverage, gaps: HourGaps | undefined): object[] {
  const { data: coverage } = hourCoverage.safeParse(row.coverage);
  if (coverage === undefined) return [];
  const { seen, late, tombstones, posts, comments, lags } = coverage;
  const sources = Object.values(seen);
  const [p50, p95, p99] = lagQuantiles(lags, [0.5, 0.95, 0.99]) ?? [];
  return [
    {
      hour: row.hour.toISOString(),
      posts: sources.reduce((sum, counts) => sum + counts.posts, 0),
      comments: sources.reduce((sum, counts) => sum + counts.comments, 0),
      late,
      removed: tombstones,
      posts_percent: percent(posts === null ? undefined : postShare(posts)),
      comments_percent: percent(comments?.share),
      comments_low: percent(comments?.low),
      comments_high: percent(comments?.high),
      lag_p50: rounded(p50),
      lag_p95: rounded(p95),
      lag_p99: rounded(p99),
      gaps_opened: gaps?.opened ?? 0,
      gaps_closed: gaps?.closed ?? 0,
    },
  ];
}

function percent(share: number | undefined): number | undefined {
  return share === undefined ? undefined : Math.floor(share * 10_000) / 100;
}

function rounded(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : Number(seconds.toPrecision(3));
}
