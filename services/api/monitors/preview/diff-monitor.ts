import type { DiffAnswer, PreviewSample } from '../../../../schemas/api/monitors/preview.ts';
import { muteOf } from '../../../../shared/matching/mutes.ts';
import type { Mute, Rule } from '../../../../shared/matching/rule.ts';
import { readArchiveStart } from '../../../../shared/stores/archive/archived-words.ts';
import { matchItemOf } from '../../../../shared/stores/archive/archived-item.ts';
import type { PreviewDeps } from './preview-deps.ts';
import { within } from './preview-monitor.ts';
import { sampleResource } from './sample-resource.ts';
import { scanArchive } from './scan-archive.ts';

const DAY_MS = 86_400_000;
const SAMPLES = 20;
/** The names of the two rules in the scan. */
const [BEFORE, AFTER] = ['before', 'after'] as const;

export interface DiffRequest {
  before: Rule;
  after: Rule;
  /** What the monitor has muted is neither gained nor lost. */
  mutes: readonly Mute[];
  days: number;
  gone: AbortSignal | undefined;
  budgetMs: number;
}

/**
 * What a changed rule would have gained and lost, in one pass over the archive.
 *
 * @throws the engine's error when it is away; ClientGone
 */
export async function diffMonitor(
  { clickhouse, clock, metrics }: PreviewDeps,
  { before, after, mutes, days, gone, budgetMs }: DiffRequest,
): Promise<DiffAnswer> {
  const timer = metrics.previewSeconds.startTimer({ kind: 'comparison' });
  const to = new Date(clock());
  const from = new Date(to.getTime() - days * DAY_MS);
  const gained: Side = { total: 0, samples: [] };
  const lost: Side = { total: 0, samples: [] };
  let kept = 0;
  const deadline = AbortSignal.timeout(budgetMs);
  const archiveStart = await readArchiveStart(clickhouse, within(deadline, gone));
  const rules = { [BEFORE]: before, [AFTER]: after };
  const scan = scanArchive({ clickhouse, rules, from, to, gone, deadline }, (item, matches) => {
    const postId = item.content.post_id;
    if (muteOf(mutes, { ...matchItemOf(item), postId }) !== undefined) return;
    const [match, other] = matches;
    if (match === undefined) return;
    if (other !== undefined) kept += 1;
    else addTo(match.monitorId === AFTER ? gained : lost, () => sampleResource(item, match));
  });
  let last = { exactFrom: to, done: false };
  for await (const extent of scan) last = extent;
  timer({ exact: last.done ? 'yes' : 'no' });
  return {
    gained,
    lost,
    kept: { total: kept },
    exact: last.done,
    exact_from: last.exactFrom.toISOString(),
    archive_from: archiveStart?.toISOString() ?? null,
  };
}

interface Side {
  total: number;
  /** The newest ones. */
  samples: PreviewSample[];
}

function addTo(side: Side, sample: () => PreviewSample): void {
  side.total += 1;
  if (side.samples.length < SAMPLES) side.samples.push(sample());
}
