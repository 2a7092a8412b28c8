import { boundsOfGap } from '../../shared/stores/crawl/crawl-gaps.ts';
import type { CrawlGap, NoticedGap } from '../../shared/stores/crawl/crawl-gaps.ts';

/**
 * At the fastest possible pace a minute of gaps, at the usual pace more than an hour. Beyond this, neighbours are
 * merged.
 */
const MAX_GAPS = 1_000;

/** A gap, and when it was noticed, in milliseconds since 1970. */
type PendingGap = CrawlGap & { noticedAt: number };

/**
 * The gaps of one source that are not yet written to Postgres. None is ever dropped: when there are too many, the two
 * newest are merged into one that covers both.
 */
export class PendingGaps {
  private gaps: PendingGap[] = [];

  get size(): number {
    return this.gaps.length;
  }

  /** `now` in milliseconds since 1970. */
  add(gap: CrawlGap, now: number): void {
    const added = { ...gap, noticedAt: now };
    const last = this.gaps.at(-1);
    if (this.gaps.length < MAX_GAPS || !last) this.gaps.push(added);
    else this.gaps[this.gaps.length - 1] = joined(last, added);
  }

  /** All gaps, oldest first. Pass them to `remove` once they are written. */
  list(now: number): NoticedGap[] {
    return this.gaps.map(({ noticedAt, ...gap }) => ({ ...gap, ageMs: Math.max(0, now - noticedAt) }));
  }

  /**
   * Removes the gaps that were written. A gap that grew during the write, at either end, stays and becomes a second row
   * for its longer stretch.
   */
  remove(written: readonly NoticedGap[]): void {
    const grown = this.gaps.filter((gap, index) => {
      const before = written[index];
      return before !== undefined && !isSameStretch(before, gap);
    });
    this.gaps = [...grown, ...this.gaps.slice(written.length)];
  }
}

/**
 * A gap that covers both, whichever is earlier or longer: ids that are given up lie before those that were skipped
 * last. A thing that one of them does not know is unknown; a time is where the readers of gaps take it to be.
 */
function joined(last: PendingGap, next: PendingGap): PendingGap {
  const one = boundsOfGap({ ...last, openedAt: last.noticedAt });
  const other = boundsOfGap({ ...next, openedAt: next.noticedAt });
  const [afterThing] = inOrder([last.afterThing, last.afterAt], [next.afterThing, next.afterAt]);
  const [, beforeThing] = inOrder([last.beforeThing, last.beforeAt], [next.beforeThing, next.beforeAt]);
  return {
    ...last,
    reason: 'joined',
    afterThing,
    afterAt: Math.min(one.afterAt, other.afterAt),
    beforeThing,
    beforeAt: Math.max(one.beforeAt, other.beforeAt),
    communities: undefined,
  };
}

/** A thing and when it was created. */
type Bound = [thing: string | undefined, at: number | undefined];

/**
 * The things of two bounds, the earlier one first; twice undefined if one is unknown. Times come first, because only
 * ids of posts are in sequence.
 */
function inOrder([one, oneAt]: Bound, [other, otherAt]: Bound): [string, string] | [undefined, undefined] {
  if (one === undefined || other === undefined) return [undefined, undefined];
  const byTime = oneAt === undefined || otherAt === undefined ? 0 : oneAt - otherAt;
  const order = byTime || one.length - other.length || (one < other ? -1 : 1);
  return order < 0 ? [one, other] : [other, one];
}

function isSameStretch(one: CrawlGap, other: CrawlGap): boolean {
  return (
    one.afterThing === other.afterThing &&
    one.afterAt === other.afterAt &&
    one.beforeThing === other.beforeThing &&
    one.beforeAt === other.beforeAt &&
    one.communities === other.communities
  );
}
