import type { Listed } from '../listed.ts';
import type { ListingPage } from '../listings/listing-timeline.ts';
import { OVERLAP } from '../listings/page-room.ts';
import type { MissedStretch } from '../listings/segment-list.ts';

/** The forum ends every listing after about a thousand items. */
const MAX_PAGES = 10;
/** Items appear this long after their date, and pages from a cache are this old. */
const DATE_SLACK_MS = 10_000;

/** Up to where some communities were read before. */
export interface KnownPart {
  /** Names near the newest end of the listing that they were in; none if they are not known. */
  anchors: ReadonlySet<string>;
  /** There are no names because the listing showed nothing. */
  wasEmpty?: boolean;
  /** Everything that was created before this time and is listed was read. */
  completeSince: number;
}

export type ReadingOutcome =
  { outcome: 'joined' } | { outcome: 'deeper'; after: string } | { outcome: 'gap'; missed: MissedStretch };

/** Reads the listing of a group from its newest page down to what is known. Times are milliseconds since 1970. */
export class GroupReading {
  /** When the newest page was asked for: everything until then is known once the reading is joined. */
  readonly startedAt: number;
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
    const isReached = ({ anchors, completeSince, wasEmpty = false }: KnownPart): boolean =>
      reachedAt <= completeSince - DATE_SLACK_MS ||
      items.some(({ name }) => anchors.has(name)) ||
      (isAll && (items.length > 0 ? wasEmpty : this.mayBeEmpty));
    this.unreached = this.unreached.filter((part) => !isReached(part));
    return this.unreached.length === 0;
  }

  private overlaps(items: readonly Listed[]): boolean {
    const names = new Set(this.lastPage.slice(-1 - OVERLAP).map(({ name }) => name));
    return items.some(({ name }) => names.has(name));
  }

  /** After a long stop the listing does not reach back far enough, judged by the time that one page spans. */
  private isTooFar(items: readonly Listed[]): boolean {
    const dates = items.map(({ createdAt }) => createdAt);
    const [newest, oldest] = [Math.max(...dates), Math.min(...dates)];
    return newest - this.unreachedSince > MAX_PAGES * Math.max(1_000, newest - oldest);
  }

  private get unreachedSince(): number {
    return Math.min(...this.unreached.map(({ completeSince }) => completeSince));
  }

  /** What is missed if the reading ends here. */
  missed(): MissedStretch {
    const dates = this.lastPage.map(({ createdAt }) => createdAt);
    return {
      afterThing: this.newestBefore,
      // The last page may have been outdated.
      afterAt: this.unreachedSince - DATE_SLACK_MS,
      beforeThing: this.lastPage.at(-1)?.name,
      beforeAt: dates.length === 0 ? this.startedAt : Math.max(...dates),
    };
  }
}
