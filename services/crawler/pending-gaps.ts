import type { CrawlGap, NoticedGap } from '../../shared/stores/crawl/crawl-gaps.ts';

/**
 * At the fastest possible pace a minute of gaps, at the usual pace more than an hour. Beyond this, neighbours are
 * merged.
 */
const MAX_GAPS = 1_000;

/**
 * The gaps of one source that are not yet written to Postgres. None is ever dropped: when there are too many, the two
 * newest are merged into one that covers both.
 */
export class PendingGaps {
  private gaps: (CrawlGap & { noticedAt: number })[] = [];

  get size(): number {
    return this.gaps.length;
  }

  /** `now` in milliseconds since 1970. */
  add(gap: CrawlGap, now: number): void {
    const last = this.gaps.at(-1);
    if (this.gaps.length < MAX_GAPS || !last) {
      this.gaps.push({ ...gap, noticedAt: now });
      return;
    }
    const { beforeThing, beforeAt } = gap;
    this.gaps[this.gaps.length - 1] = { ...last, reason: 'joined', beforeThing, beforeAt, communities: undefined };
  }

  /** All gaps, oldest first. Pass them to `remove` once they are written. */
  list(now: number): NoticedGap[] {
    return this.gaps.map(({ noticedAt, ...gap }) => ({ ...gap, ageMs: Math.max(0, now - noticedAt) }));
  }

  /**
   * Removes the gaps that were written. A gap that grew during the write stays and becomes a second row for its longer
   * stretch.
   */
  remove(written: readonly NoticedGap[]): void {
    const grown = this.gaps.filter((gap, index) => {
      const before = written[index];
      return before !== undefined && before.beforeThing !== gap.beforeThing;
    });
    this.gaps = [...grown, ...this.gaps.slice(written.length)];
  }
}
