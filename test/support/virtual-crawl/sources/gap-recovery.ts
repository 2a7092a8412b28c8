import { communityKey } from '../../../../services/crawler/threads/community-key.ts';
import type { ThreadSweep } from '../../../../services/crawler/threads/thread-sweep.ts';
import type { VirtualGap } from '../virtual-crawl.ts';

const EVERY_MS = 10_000;
const AT_ONCE = 16;
const SETTLE_MS = 75_000;
/** An extension of a gap within this time continues it. */
const EXTENDED_MS = 60_000;

const MOST_COMMUNITIES = 500;

interface OpenGap {
  source: string;
  afterAt: number;
  beforeAt: number;
  communities: readonly string[] | undefined;
}

/** The gaps of listings, which the sweep works on and closes as GapRecovery does, with posts known at once. */
export class VirtualGapRecovery {
  private readonly gaps: readonly VirtualGap[];
  private readonly rows: (OpenGap & { id: number; openedAt: number })[] = [];
  /** For how long each closed gap was open, in milliseconds. */
  readonly openMs: number[] = [];
  private noted = 0;
  private nextAt = Number.NEGATIVE_INFINITY;
  private ids = 0;

  constructor(gaps: readonly VirtualGap[]) {
    this.gaps = gaps;
  }

  /** How many are open. */
  get open(): number {
    return this.rows.length;
  }

  work(sweep: ThreadSweep, now: number): void {
    this.note(now);
    if (now < this.nextAt) return;
    this.nextAt = now + EVERY_MS;
    for (const row of this.newest()) {
      if (sweep.waitingForGap(row.id) !== 0 || now - row.openedAt < SETTLE_MS) continue;
      this.openMs.push(now - row.openedAt);
      this.rows.splice(this.rows.indexOf(row), 1);
    }
    sweep.setGaps(
      this.newest().map(({ communities, ...row }) => ({
        ...row,
        communities: communities && new Set(communities.map(communityKey)),
      })),
    );
  }

  private newest(): typeof this.rows {
    return this.rows.slice(-AT_ONCE);
  }

  private note(now: number): void {
    for (; this.noted < this.gaps.length; this.noted++) {
      const { source, afterAt, beforeAt, communities } = this.gaps[this.noted]!;
      if (!source.startsWith('listings:')) continue;
      const gap: OpenGap = { source, afterAt: afterAt ?? now - 3_600_000, beforeAt: beforeAt ?? now, communities };
      const last = this.rows.findLast((row) => row.source === source && now - row.openedAt < EXTENDED_MS);
      const touches = last && gap.afterAt <= last.beforeAt && gap.beforeAt >= last.afterAt;
      if (!touches) this.rows.push({ ...gap, id: this.ids++, openedAt: now });
      else {
        last.afterAt = Math.min(last.afterAt, gap.afterAt);
        last.beforeAt = Math.max(last.beforeAt, gap.beforeAt);
        const both = last.communities && communities && [...new Set([...last.communities, ...communities])];
        last.communities = both && both.length <= MOST_COMMUNITIES ? both : undefined;
      }
    }
  }
}
