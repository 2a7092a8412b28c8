import type { DiffAnswer, PreviewAnswer, PreviewProgress, PreviewSample } from '../../../schemas/api/rules.ts';
import { matchItemOf } from '../../../shared/archive/archived-item.ts';
import type { ArchivedItem } from '../../../shared/archive/archived-item.ts';
import { readArchiveStart } from '../../../shared/archive/archived-words.ts';
import { MONITOR_PERIOD_CREDITS, planOf } from '../../../shared/billing/rules/plans.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { muteOf } from '../../../shared/matching/item-filter.ts';
import type { MonitorMatchResult } from '../../../shared/matching/monitor-index.ts';
import type { Mute, Rule } from '../../../shared/matching/rule.ts';
import { MatchWords, suggest } from '../../../shared/monitors/rules/suggest.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import type { AccountSlots } from '../http/account-slots.ts';
import type { StreamWords } from './archive-samples.ts';
import type { MonitorDeps } from './find-monitor.ts';
import { ruleWarnings } from './rule-warnings.ts';
import { scanArchive } from './archive-samples.ts';

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
  disconnected: AbortSignal | undefined;
  /** How long the archive may be read for the counts, in milliseconds. */
  budgetMs: number;
}

/**
 * Computes a preview; yields its progress after each page, and returns it.
 *
 * @throws the engine's error when it is unavailable; ClientDisconnected
 */
export async function* previewMonitor(
  deps: PreviewDeps,
  { rule, threadOnce, days, pack, disconnected, budgetMs }: PreviewRequest,
): AsyncGenerator<PreviewProgress, PreviewAnswer> {
  const { clickhouse, metrics } = deps;
  const timer = metrics.previewSeconds.startTimer({ kind: 'preview' });
  const to = new Date(deps.clock());
  const from = new Date(to.getTime() - days * DAY_MS);
  const counts = new PreviewCounts(threadOnce);
  const deadline = AbortSignal.timeout(budgetMs);
  const archiveStart = await readArchiveStart(clickhouse, within(deadline, disconnected));
  const scan = scanArchive({ clickhouse, rules: { rule }, from, to, disconnected, deadline }, (item, [match]) => {
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

/** A signal for a short read of the archive, which also ends at the deadline of the preview. */
function within(deadline: AbortSignal, disconnected: AbortSignal | undefined): AbortSignal {
  return AbortSignal.any([
    deadline,
    AbortSignal.timeout(READ_MS),
    ...(disconnected === undefined ? [] : [disconnected]),
  ]);
}

export interface PreviewDeps extends MonitorDeps {
  clickhouse: ClickHouseClient;
  clock: Clock;
  logger: Logger;
  /** The address of the API, without a trailing slash. */
  baseUrl: string;
  metrics: Pick<Metrics, 'previewSeconds'>;
  slots: AccountSlots;
  streamWords: StreamWords;
}

const SAMPLES = 20;
const MAX_SUBREDDITS = 50;

/** Counts the matches of one rule, which must be added newest first. */
class PreviewCounts {
  total = 0;
  /** The newest ones. */
  readonly samples: PreviewSample[] = [];
  readonly words = new MatchWords();
  readonly subreddits = new Map<string, number>();
  readonly #days = new Map<string, number>();
  readonly #keywords = new Map<string, number>();
  /** With thread_once: the threads of the current day, and how many there were each day. */
  readonly #threads = new Set<string>();
  readonly #sent = new Map<string, number>();
  readonly #threadOnce: boolean;
  #day = '';

  /** @param threadOnce whether a thread counts once a day among the matches that would be sent */
  constructor(threadOnce: boolean) {
    this.#threadOnce = threadOnce;
  }

  add(item: ArchivedItem, match: Pick<MonitorMatchResult, 'matchedTerms' | 'positions'>): void {
    const day = item.firstSeenAt.slice(0, 'YYYY-MM-DD'.length);
    this.total += 1;
    increase(this.#days, day);
    for (const term of match.matchedTerms) increase(this.#keywords, term);
    increase(this.subreddits, item.content.subreddit);
    if (this.samples.length < SAMPLES) this.samples.push(sampleResource(item, match));
    if (this.#isSent(day, item.content.post_id)) increase(this.#sent, day);
    this.words.add(item.content);
  }

  /** UTC days with more matches to be sent than `cap`, the newest first. */
  daysBeyond(cap: number): string[] {
    return [...this.#sent].filter(([, count]) => count > cap).map(([day]) => day);
  }

  lists(): Pick<PreviewAnswer, 'by_day' | 'by_keyword' | 'by_subreddit'> {
    return {
      by_day: [...this.#days].map(([day, count]) => ({ day, count })),
      by_keyword: mostFrequent(this.#keywords).map(([keyword, count]) => ({ keyword, count })),
      by_subreddit: mostFrequent(this.subreddits)
        .slice(0, MAX_SUBREDDITS)
        .map(([subreddit, count]) => ({ subreddit, count })),
    };
  }

  #isSent(day: string, postId: string): boolean {
    if (!this.#threadOnce) return true;
    if (day !== this.#day) this.#threads.clear();
    this.#day = day;
    if (this.#threads.has(postId)) return false;
    this.#threads.add(postId);
    return true;
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The highest count first; equal ones in the order of their keys. */
function mostFrequent(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1));
}

/** What would have been a match, with the first place of each term. */
function sampleResource(
  { content, firstSeenAt }: ArchivedItem,
  { matchedTerms, positions }: Pick<MonitorMatchResult, 'matchedTerms' | 'positions'>,
): PreviewSample {
  const { thing_id, kind, subreddit, author, title, body, permalink, post_id, created_utc } = content;
  return {
    ...{ thing_id, kind, subreddit, author, title, body, permalink, post_id, created_utc },
    first_seen_at: firstSeenAt,
    matched_terms: matchedTerms,
    highlights: positions.map(({ field, start, end }) => ({ field: field === 'text' ? 'body' : field, start, end })),
  };
}

/** The names of the two rules in the scan. */
const [BEFORE, AFTER] = ['before', 'after'] as const;

interface DiffRequest {
  before: Rule;
  after: Rule;
  /** What the monitor has muted is neither gained nor lost. */
  mutes: readonly Mute[];
  days: number;
  disconnected: AbortSignal | undefined;
  budgetMs: number;
}

/**
 * What a changed rule would have gained and lost, in one pass over the archive.
 *
 * @throws the engine's error when it is unavailable; ClientDisconnected
 */
export async function diffMonitor(
  { clickhouse, clock, metrics }: PreviewDeps,
  { before, after, mutes, days, disconnected, budgetMs }: DiffRequest,
): Promise<DiffAnswer> {
  const timer = metrics.previewSeconds.startTimer({ kind: 'comparison' });
  const to = new Date(clock());
  const from = new Date(to.getTime() - days * DAY_MS);
  const gained: Side = { total: 0, samples: [] };
  const lost: Side = { total: 0, samples: [] };
  let kept = 0;
  const deadline = AbortSignal.timeout(budgetMs);
  const archiveStart = await readArchiveStart(clickhouse, within(deadline, disconnected));
  const rules = { [BEFORE]: before, [AFTER]: after };
  const scan = scanArchive({ clickhouse, rules, from, to, disconnected, deadline }, (item, matches) => {
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
