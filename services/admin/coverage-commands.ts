import { countGapsByHour, readCoverageHours } from '../../shared/crawl/crawl-coverage.ts';
import type { HourGaps, ReadCoverage } from '../../shared/crawl/crawl-coverage.ts';
import { listGaps, readOpenGaps } from '../../shared/crawl/crawl-gaps.ts';
import type { ListedGap, OpenGap } from '../../shared/crawl/crawl-gaps.ts';
import { hourCoverage, lagQuantiles, postShare } from '../../shared/crawl/rules/coverage.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { AdminError, examples, integer } from './command.ts';
import type { AddCommands } from './command.ts';

const DEFAULT_HOURS = 24;
const MAX_HOURS = 31 * 24;
const HOUR_MS = 3_600_000;

/** Gaps are kept for 90 days. */
const MAX_GAP_HOURS = 90 * 24;
/** What is listed is held in memory. */
const MAX_LISTED = 10_000;

export const addCommands: AddCommands = (program, { table }) => {
  program
    .command('gaps')
    .description('print what the crawl may have missed: one line per gap, newest first')
    .option('--hours <n>', 'gaps open in the last N hours, default 24', integer('--hours', MAX_GAP_HOURS))
    .option('--open', 'only gaps that are open now, whatever their age')
    .addHelpText('after', examples('gaps --hours 48', 'gaps --open --json'))
    .action(
      table(async ({ pool }, { hours, open }: { hours?: number; open?: boolean }) => {
        if (open && hours !== undefined)
          throw new AdminError('--open lists gaps of any age; do not combine it with --hours.');
        if (open) return (await readOpenGaps(pool, { limit: MAX_LISTED })).map(gapLine);
        const now = systemClock();
        const range = { from: now - (hours ?? DEFAULT_HOURS) * HOUR_MS, to: now + HOUR_MS, limit: MAX_LISTED };
        return (await listGaps(pool, range)).map(gapLine);
      }),
    );
  program
    .command('coverage')
    .description('print how much of each hour was seen, and how late: newest hour first')
    .option('--hours <n>', 'the last N hours', integer('--hours', MAX_HOURS), DEFAULT_HOURS)
    .addHelpText('after', examples('coverage', 'coverage --hours 168 --json'))
    .action(
      table(async ({ pool }, { hours }: { hours: number }) => {
        const to = Math.ceil(systemClock() / HOUR_MS) * HOUR_MS;
        const [from, end] = [new Date(to - hours * HOUR_MS), new Date(to)];
        const [covered, gaps] = await Promise.all([
          readCoverageHours(pool, from, end),
          countGapsByHour(pool, from, end),
        ]);
        const gapsOf = new Map(gaps.map((counts) => [counts.hour.getTime(), counts]));
        return covered.reverse().flatMap((row) => hourLine(row, gapsOf.get(row.hour.getTime())));
      }),
    );
};

/** Shares in percent, lags in seconds. An hour of a version that cannot be read is left out. */
function hourLine(row: ReadCoverage, gaps: HourGaps | undefined): object[] {
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

function gapLine(gap: OpenGap & Partial<ListedGap>): object {
  return {
    id: gap.id,
    source: gap.source,
    reason: gap.reason,
    opened_at: iso(gap.openedAt),
    closed_at: iso(gap.closedAt),
    outcome: gap.outcome,
    created_from: iso(gap.afterAt),
    created_to: iso(gap.beforeAt),
    after: gap.afterThing,
    before: gap.beforeThing,
    found: gap.found,
  };
}

function iso(time: number | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}
