import type { CrawlGap } from '../../../shared/stores/crawl/crawl-gaps.ts';
import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';

const DEPTH = 1000;
const PAGE = 100;
const START = Date.UTC(2026, 0, 1);

export interface SlidingListingOptions {
  /** Comments per second. */
  rate: number;
  /** The duration of each round trip in milliseconds, for each call. */
  roundTripMs: () => number;
  /** An outage, in milliseconds from the start. */
  outages?: { from: number; to: number }[];
  /** Whether comment k is deleted soon after it appears. */
  vanishes?: (k: number) => boolean;
  /** How many milliseconds after its date comment k appears. */
  lateMs?: (k: number) => number;
}

/**
 * The forum's listing of all comments, as on a busy site, with its own clock: comment k appears at the head k / rate
 * seconds after the start, the newest thousand can be paged through, and time advances during paging.
 */
export class SlidingListing {
  now = START;
  private readonly options: SlidingListingOptions;

  constructor(options: SlidingListingOptions) {
    this.options = options;
  }

  get elapsed(): number {
    return this.now - START;
  }

  /** The number of the comment that enters next. */
  get frontier(): number {
    return Math.floor((this.elapsed * this.options.rate) / 1000);
  }

  createdAt(k: number): number {
    return START + (k * 1000) / this.options.rate - (this.options.lateMs?.(k) ?? 0);
  }

  /** Like Upstream.get. Half of the round trip is before the forum reads its listing, half after. */
  async get(_path: string, params: Record<string, string>): Promise<unknown> {
    const half = this.options.roundTripMs() / 2;
    this.now += half;
    const { elapsed } = this;
    if (this.options.outages?.some(({ from, to }) => elapsed >= from && elapsed < to)) {
      throw new UpstreamError('broken', 'an outage', { status: 503 });
    }
    const answer = this.page(params.after);
    this.now += half;
    return answer;
  }

  private page(cursor: string | undefined): unknown {
    const { frontier } = this;
    const oldest = Math.max(0, frontier - DEPTH);
    const after = cursor === undefined ? frontier : numberOf(cursor);
    // A comment that left the window or was deleted is no longer a valid cursor.
    const isKnown = cursor === undefined || (after >= oldest && !this.isGone(after, frontier));
    const shown: number[] = [];
    for (let k = after - 1; isKnown && k >= oldest && shown.length < PAGE; k--) {
      if (!this.isGone(k, frontier)) shown.push(k);
    }
    const last = shown.at(-1);
    const isEnd = last === undefined || last <= oldest;
    return {
      kind: 'Listing',
      data: { after: isEnd ? null : nameOf(last), children: shown.map((k) => this.comment(k)) },
    };
  }

  private isGone(k: number, frontier: number): boolean {
    return frontier - k > 20 && this.options.vanishes?.(k) === true;
  }

  private comment(k: number): object {
    const data = { id: nameOf(k).slice(3), author: 'a', subreddit: 'tea', body: '', score: 1, parent_id: 't3_p' };
    return { kind: 't1', data: { ...data, link_id: 't3_p', created_utc: this.createdAt(k) / 1000 } };
  }
}

export function nameOf(k: number): string {
  return `t1_${(k + 1_000_000).toString(36)}`;
}

export function numberOf(name: string): number {
  return parseInt(name.slice(3), 36) - 1_000_000;
}

/**
 * The comments below `to` that were never seen, and those among them that no gap contains: by names, and by dates
 * unless they appear late.
 */
export function unaccounted(
  listing: SlidingListing,
  of: {
    seen: ReadonlySet<number>;
    gaps: readonly CrawlGap[];
    from: number;
    to: number;
    isLate?: (k: number) => boolean;
  },
): { lost: number; withoutRow: number; outOfDates: number } {
  const result = { lost: 0, withoutRow: 0, outOfDates: 0 };
  const ranges = of.gaps.map((gap) => ({
    after: gap.afterThing === undefined ? -1 : numberOf(gap.afterThing),
    before: gap.beforeThing === undefined ? Number.POSITIVE_INFINITY : numberOf(gap.beforeThing),
    gap,
  }));
  for (let k = of.from; k < of.to; k++) {
    if (of.seen.has(k)) continue;
    result.lost += 1;
    const holding = ranges.filter(({ after, before }) => after < k && k < before);
    if (holding.length === 0) result.withoutRow += 1;
    else if (of.isLate?.(k) !== true && !holding.some(({ gap }) => covers(gap, listing.createdAt(k)))) {
      result.outOfDates += 1;
    }
  }
  return result;
}

function covers({ afterAt, beforeAt }: CrawlGap, timeMs: number): boolean {
  // Dates are converted from seconds, so they are exact only to a fraction of a millisecond.
  return (afterAt === undefined || timeMs >= afterAt - 1) && (beforeAt === undefined || timeMs <= beforeAt + 1);
}
