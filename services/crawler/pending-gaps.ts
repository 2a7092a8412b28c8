import type { CrawlGap, NoticedGap } from '../../shared/stores/crawl/crawl-gaps.ts';

/**
 * About a minute of nothing but gaps at the fastest, an hour and more at the usual pace; beyond it neighbours are
 * joined.
 */
const MOST_GAPS = 1_000;

/**
 * The gaps of one source that are not written yet, because Postgres is away or has not answered. None is ever dropped:
 * when there are too many, the two newest become one that reaches from the one's beginning to the other's end.
 */
export class PendingGaps {
  private gaps: (CrawlGap & { noticedAt: number })[] = [];

  get size(): number {
    return this.gaps.length;
  }

  /** `now` in milliseconds since 1970. */
  add(gap: CrawlGap, now: number): void {
    const last = this.gaps.at(-1);
    if (this.gaps.length < MOST_GAPS || !last) {
      this.gaps.push({ ...gap, noticedAt: now });
      return;
    }
    const { beforeThing, beforeAt } = gap;
    this.gaps[this.gaps.length - 1] = { ...last, reason: 'joined', beforeThing, beforeAt };
  }

  /** All of them, oldest first, to be written and then given to `written`. */
  list(now: number): NoticedGap[] {
    return this.gaps.map(({ noticedAt, ...gap }) => ({ ...gap, ageMs: Math.max(0, now - noticedAt) }));
  }

  /**
   * Forgets the `count` oldest ones. One that grew while it was written stays, as a second row for its longer stretch.
   */
  written(listed: readonly NoticedGap[]): void {
    const grown = this.gaps.filter((gap, index) => {
      const before = listed[index];
      return before !== undefined && before.beforeThing !== gap.beforeThing;
    });
    this.gaps = [...grown, ...this.gaps.slice(listed.length)];
  }
}
