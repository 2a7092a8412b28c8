import type { PreviewAnswer, PreviewProgress } from '../../../../schemas/api/monitors/preview.ts';
import { MONITOR_PERIOD_CREDITS } from '../../../../shared/domain/accounts/credits.ts';
import { planOf } from '../../../../shared/domain/accounts/plans.ts';
import { suggest } from '../../../../shared/domain/suggestions/suggest.ts';
import type { Rule } from '../../../../shared/matching/rule.ts';
import { readArchiveStart } from '../../../../shared/stores/archive/archived-words.ts';
import { ruleWarnings } from '../rule-warnings.ts';
import { PreviewCounts } from './preview-counts.ts';
import type { PreviewDeps } from './preview-deps.ts';
import { scanArchive } from './scan-archive.ts';

const DAY_MS = 86_400_000;
/** A period of a monitor lasts a day. */
const CREDITS_PER_30_DAYS = 30 * MONITOR_PERIOD_CREDITS;
const READ_MS = 5_000;

export interface PreviewRequest {
  rule: Rule;
  threadOnce: boolean;
  days: number;
  /** Price of the account's largest pack. */
  pack: number;
  gone: AbortSignal | undefined;
  /** How long the archive may be read for the counts, in milliseconds. */
  budgetMs: number;
}

/**
 * Computes a preview; yields its progress after each page, and returns it.
 *
 * @throws the engine's error when it is away; ClientGone
 */
export async function* previewMonitor(
  deps: PreviewDeps,
  { rule, threadOnce, days, pack, gone, budgetMs }: PreviewRequest,
): AsyncGenerator<PreviewProgress, PreviewAnswer> {
  const { clickhouse, metrics } = deps;
  const timer = metrics.previewSeconds.startTimer({ kind: 'preview' });
  const to = new Date(deps.clock());
  const from = new Date(to.getTime() - days * DAY_MS);
  const counts = new PreviewCounts(threadOnce);
  const deadline = AbortSignal.timeout(budgetMs);
  const archiveStart = await readArchiveStart(clickhouse, within(deadline, gone));
  const scan = scanArchive({ clickhouse, rules: { rule }, from, to, gone, deadline }, (item, [match]) => {
    if (match !== undefined) counts.add(item, match);
  });
  let last = { exactFrom: to, done: false };
  for await (const extent of scan) {
    last = extent;
    const { exactFrom, candidates } = extent;
    if (!extent.done) yield { total: counts.total, exact_from: exactFrom.toISOString(), candidates };
  }
  const [stream, sample] = await Promise.all([
    deps.streamWords(),
    rule.subreddits.length > 0 ? [] : deps.archiveSample(),
  ]);
  timer({ exact: last.done ? 'yes' : 'no' });
  return {
    total: counts.total,
    exact: last.done,
    exact_from: last.exactFrom.toISOString(),
    archive_from: archiveStart?.toISOString() ?? null,
    ...counts.lists(),
    samples: counts.samples,
    capped_days: counts.daysBeyond(planOf(pack).dailyMatchCap),
    credits_per_30_days: CREDITS_PER_30_DAYS,
    warnings: ruleWarnings(rule, { sample, suppressedPerDay: deps.suppressedPerDay }),
    suggestions:
      stream === undefined
        ? []
        : suggest({ rule, matches: counts.words, stream, subreddits: counts.subreddits, total: counts.total }),
  };
}

/** A signal for a short read of the archive, which ends at the deadline of the whole one. */
export function within(deadline: AbortSignal, gone: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any([deadline, AbortSignal.timeout(READ_MS), ...(gone === undefined ? [] : [gone])]);
}
