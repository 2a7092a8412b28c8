import { systemClock } from '../../shared/runtime/clock.ts';
import { listGaps, readOpenGaps } from '../../shared/stores/crawl/crawl-gaps.ts';
import type { ListedGap, OpenGap } from '../../shared/stores/crawl/crawl-gaps.ts';
import { AdminError } from './admin-error.ts';
import type { PostgresCommand } from './command.ts';
import { hoursOption } from './hours-option.ts';

const DEFAULT_HOURS = 24;
/** Gaps are kept for 90 days. */
const MAX_HOURS = 90 * 24;
/** What is listed is held in memory. */
const MAX_LISTED = 10_000;
const HOUR_MS = 3_600_000;

export const GAPS: PostgresCommand = {
  name: 'gaps',
  summary: 'print what the crawl may have missed, newest first, a line for each gap',
  optionsHelp: [
    `--hours N              gaps that were open in the last N hours, default ${DEFAULT_HOURS}`,
    '--open                 those that are open now, whatever their age',
  ],
  examples: ['gaps --hours 48', 'gaps --open --json'],
  isList: true,
  options: { hours: { type: 'string' }, open: { type: 'boolean' } },
  prepare(values) {
    const hours = hoursOption(values, { most: MAX_HOURS, byDefault: DEFAULT_HOURS });
    if (values.open !== undefined && values.hours !== undefined) {
      throw new AdminError('--open lists gaps of any age: leave out --hours.');
    }
    return async (pool) => {
      if (values.open !== undefined) return (await readOpenGaps(pool, { limit: MAX_LISTED })).map(toLine);
      const now = systemClock();
      const range = { from: now - hours * HOUR_MS, to: now + HOUR_MS, limit: MAX_LISTED };
      return (await listGaps(pool, range)).map(toLine);
    };
  },
};

function toLine(gap: OpenGap & Partial<ListedGap>): object {
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
