import type { Listed } from '../crawl-source.ts';
import type { ListingPage } from '../listing-timeline.ts';
import { OVERLAP } from '../listing-segment.ts';
import type { MissedStretch } from '../listing-segment.ts';

/** The forum ends every listing after about a thousand items. */
const MAX_PAGES = 10;
/** Items appear this long after their date. */
const DATE_SLACK_MS = 10_000;
/**
 * A page that reaches back over this much is one of a quiet listing: its newest date does not tell how old the page is,
 * which counts as this old at most, with the difference between the clocks.
 */
const QUIET_SPAN_MS = 600_000;
const MOST_BEHIND_MS = 120_000;

/** Up to where some communities were read before. */
export interface KnownPart {
  /** Names near the newest end of the listing that they were in; none if they are not known. */
  anchors: ReadonlySet<string>;
  /** There are no names because the listing showed nothing. */
  wasEmpty?: boolean;
  /** When the newest page of the last reading was asked for. */
  completeSince: number;
  /** Everything that the forum dates before this time and lists was read; default: completeSince. */
  shownTo?: number;
}

/** Up to which date a part was read. */
export function shownToOf({ completeSince, shownTo = completeSince }: KnownPart): number {
  return shownTo;
}

export type ReadingOutcome =
  { outcome: 'joined' } | { outcome: 'deeper'; after: string } | { outcome: 'gap'; missed: MissedStretch };

/** Reads the listing of a group from its newest page down to what is known. Times are milliseconds since 1970. */
export class GroupReading {
  /** When the newest page was asked for. */
  readonly startedAt: number;
  /** Up to which date everything is known when the reading has ended. */
  readonly shownTo: number;
  /** Names on the newest page. */
  readonly names: string[];
  readonly newest: string | undefined;
  /** Pages so far, and the items on them that were not known before. */
  pages = 0;
  fresh = 0;
  private readonly known: readonly KnownPart[];
  /** The date of the newest item, and that of the last ones so far. */
  private newestAt = -Infinity;
  private reachedAt = Infinity;
  /** The parts of the listing that the reading has not reached yet. */
  private unreached: readonly KnownPart[];
  private readonly newestBefore: string | undefined;
  private lastPage: readonly Listed[] = [];
  private readonly mayBeEmpty: boolean;

  /**
   * @param before what was known; the reading is joined when it has reached every part
   * @param before.newest the newest name known, if there is one part
   * @param before.mayBeEmpty whether an empty listing is complete; default: it is a gap
   */
  constructor(
    before: { known: readonly KnownPart[]; newest: string | undefined; mayBeEmpty?: boolean },
    firstPage: ListingPage,
    startedAt: number,
  ) {
    this.known = before.known;
    this.unreached = before.known;
    this.newestBefore = before.newest;
    this.mayBeEmpty = before.mayBeEmpty ?? false;
    this.startedAt = startedAt;
    const knownTo = this.known.length === 0 ? -Infinity : Math.min(...this.known.map(shownToOf));
    this.shownTo = Math.min(startedAt, Math.max(knownTo, shownBy(firstPage, startedAt)));
    this.names = firstPage.items.map(({ name }) => name);
    this.newest = this.names[0];
  }

  /**
   * Decides what the next page means, the newest first. A listing that ends before it reaches what is known may have
   * been cut short: that is a gap, on the newest page too.
   */
  learn(page: ListingPage): ReadingOutcome {
    const isContiguous = this.pages === 0 || this.overlaps(page.items);
    const isFirst = this.pages === 0;
    this.pages += 1;
    this.measure(page.items);
    if (isContiguous && this.reachesKnown(page)) return { outcome: 'joined' };
    if (isContiguous && page.items.length > 0) this.lastPage = page.items;
    const after = (this.lastPage.at(-1 - OVERLAP) ?? this.lastPage.at(-1))?.name;
    const isHopeless = after === undefined || page.after === undefined || this.pages >= MAX_PAGES;
    if (!isContiguous || isHopeless || (isFirst && this.isTooFar(page.items))) {
      return { outcome: 'gap', missed: this.missed() };
    }
    return { outcome: 'deeper', after };
  }

  /** The time between the dates of the newest and the last items, in milliseconds. */
  get spanMs(): number {
    return Math.max(0, this.newestAt - this.reachedAt);
  }

  private measure(items: readonly Listed[]): void {
    const before = new Set(this.lastPage.map(({ name }) => name));
    for (const { name, createdAt } of items) {
      this.newestAt = Math.max(this.newestAt, createdAt);
      if (!before.has(name) && !this.known.some(({ anchors }) => anchors.has(name))) this.fresh += 1;
    }
  }

  private reachesKnown({ items, after }: ListingPage): boolean {
    const isAll = this.pages === 1 && after === undefined;
    // The latest of three dates, so that a single delayed item has no effect; of a whole listing the earliest.
    const last = items.slice(-3).map(({ createdAt }) => createdAt);
    const reachedAt = isAll ? Math.min(...last) : last.length === 3 ? Math.max(...last) : Infinity;
    this.reachedAt = Math.min(this.reachedAt, reachedAt);
    const isReached = (part: KnownPart): boolean =>
      reachedAt <= shownToOf(part) - DATE_SLACK_MS ||
      items.some(({ name }) => part.anchors.has(name)) ||
      (isAll && (items.length > 0 ? part.wasEmpty === true : this.mayBeEmpty));
    this.unreached = this.unreached.filter((part) => !isReached(part));
    return this.unreached.length === 0;
  }

  private overlaps(items: readonly Listed[]): boolean {
    const names = new Set(this.lastPage.slice(-1 - OVERLAP).map(({ name }) => name));
    return items.some(({ name }) => names.has(name));
  }

  /** After a long stop the listing does not reach back far enough, by the time that one page spans. */
  private isTooFar(items: readonly Listed[]): boolean {
    const dates = items.map(({ createdAt }) => createdAt);
    const [newest, oldest] = [Math.max(...dates), Math.min(...dates)];
    const unreadMs = Math.min(newest, this.startedAt) - Math.min(...this.unreached.map((part) => part.completeSince));
    return unreadMs > MAX_PAGES * Math.max(1_000, newest - oldest);
  }

  /** What is missed if the reading ends here. */
  missed(): MissedStretch {
    const dates = this.lastPage.map(({ createdAt }) => createdAt);
    return {
      afterThing: this.newestBefore,
      afterAt: Math.min(...this.unreached.map(shownToOf)) - DATE_SLACK_MS,
      beforeThing: this.lastPage.at(-1)?.name,
      beforeAt: dates.length === 0 ? this.startedAt : Math.max(...dates),
    };
  }
}

/**
 * Up to which date a newest page shows everything: its third newest, so that one odd date has no effect. When it was
 * asked for does not tell, because it may come from a cache, and the forum's clock may differ.
 */
function shownBy({ items, after }: ListingPage, askedAt: number): number {
  const dates = items.map(({ createdAt }) => createdAt).sort((one, other) => other - one);
  const newest = dates[2] ?? dates.at(-1);
  if (newest === undefined) return askedAt;
  const isQuiet = after === undefined || newest - (dates.at(-3) ?? newest) > QUIET_SPAN_MS;
  return isQuiet ? Math.max(newest, askedAt - MOST_BEHIND_MS) : newest;
}
