import type { Forum } from '../forum-model/forum.ts';
import type { Sightings } from './sightings.ts';

/** Steps of the histogram of lags: each is 5 % longer than the one before, from 50 ms on. */
const STEP = 1.05;
const FIRST_MS = 50;
const STEPS = 400;

/** Shares of what any request could show, and lags from then on in milliseconds. */
export interface Coverage {
  shown: number;
  within15s: number;
  within60s: number;
  within1h: number;
  lagMs: { p50: number; p90: number; p95: number };
}

/** Counts lags of the items that were shown from `fromMs` to `toMs`; both count from the start of the model. */
class LagCounts {
  private readonly counts = new Float64Array(STEPS);
  private shown = 0;
  private within15s = 0;
  private within60s = 0;
  private within1h = 0;

  add(shownAtMs: number, seenAtMs: number | undefined): void {
    this.shown += 1;
    if (seenAtMs === undefined) return;
    const lag = Math.max(0, seenAtMs - shownAtMs);
    if (lag <= 15_000) this.within15s += 1;
    if (lag <= 60_000) this.within60s += 1;
    if (lag <= 3_600_000) this.within1h += 1;
    const step = lag <= FIRST_MS ? 0 : Math.ceil(Math.log(lag / FIRST_MS) / Math.log(STEP));
    this.counts[Math.min(STEPS - 1, step)]! += 1;
  }

  coverage(): Coverage {
    const share = (count: number) => (this.shown === 0 ? 1 : count / this.shown);
    return {
      shown: this.shown,
      within15s: share(this.within15s),
      within60s: share(this.within60s),
      within1h: share(this.within1h),
      lagMs: { p50: this.quantile(0.5), p90: this.quantile(0.9), p95: this.quantile(0.95) },
    };
  }

  /** A quantile of all that was shown: what was never seen has an infinite lag. */
  private quantile(part: number): number {
    let below = 0;
    for (const [step, count] of this.counts.entries()) {
      below += count;
      if (below >= part * this.shown) return Math.round(FIRST_MS * STEP ** step);
    }
    return Infinity;
  }
}

/** The coverage of the items that became visible in [fromMs, toMs), counted from the start of the model. */
export function measureCoverage(
  forum: Forum,
  sightings: Sightings,
  { fromMs, toMs }: { fromMs: number; toMs: number },
): { comments: Coverage; posts: Coverage } {
  const { startsAt } = forum.options;
  const isMeasured = (shownAt: number) => shownAt >= fromMs && shownAt < toMs;
  const comments = new LagCounts();
  for (let index = 0; index < forum.comments.count; index++) {
    const shownAt = forum.comments.shownAt[index]!;
    const seenAt = sightings.commentSeenAt(index);
    if (isMeasured(shownAt)) comments.add(shownAt, seenAt === 0 ? undefined : seenAt - startsAt);
  }
  const posts = new LagCounts();
  for (let ordinal = forum.firstPost; ordinal < forum.posts.count; ordinal++) {
    const shownAt = forum.posts.shownAt[ordinal]!;
    const seenAt = sightings.postSeenAt(ordinal);
    if (isMeasured(shownAt)) posts.add(shownAt, seenAt === 0 ? undefined : seenAt - startsAt);
  }
  return { comments: comments.coverage(), posts: posts.coverage() };
}
