import type { Listed } from '../listed.ts';
import type { ListingPage } from '../listings/listing-timeline.ts';
import type { MissedStretch } from '../listings/segment-list.ts';

/** A deeper page begins this many items above the oldest known one and must show one of them: any may be deleted. */
const OVERLAP = 3;
/** The forum ends every listing after about a thousand items. */
const MAX_PAGES = 10;
/** Items appear this long after their date, and pages from a cache are this old. */
const DATE_SLACK_MS = 10_000;

/** Up to where some communities were read before. */
export interface KnownPart {
  /** Names near the newest end of the listing that they were in. */
  anchors: ReadonlySet<string>;
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
  /** The parts of the listing that the reading has not reached yet. */
  private unreached: readonly KnownPart[];
  private readonly newestBefore: string | undefined;
  private pages = 0;
  private lastPage: readonly Listed[] = [];

  /**
   * @param before what was known; the reading is joined when it has reached every part
   * @param before.newest the newest name known, if there is one part
   */
  constructor(
    before: { known: readonly KnownPart[]; newest: string | undefined },
    firstPage: ListingPage,
    startedAt: number,
  ) {
    this.unreached = before.known;
    this.newestBefore = before.newest;
    this.startedAt = startedAt;
    this.names = firstPage.items.map(({ name }) => name);
    this.newest = this.names[0];
  }

  /** Decides what the next page means, the newest first. */
  learn(page: ListingPage): ReadingOutcome {
    const isContiguous = this.pages === 0 || this.overlaps(page.items);
    const isFirst = this.pages === 0;
    this.pages += 1;
    if (isContiguous && (this.reachesKnown(page.items) || (isFirst && page.after === undefined))) {
      return { outcome: 'joined' };
    }
    if (isContiguous && page.items.length > 0) this.lastPage = page.items;
    const after = (this.lastPage.at(-1 - OVERLAP) ?? this.lastPage.at(-1))?.name;
    const isHopeless = after === undefined || page.after === undefined || this.pages >= MAX_PAGES;
    if (!isContiguous || isHopeless || (isFirst && this.isTooFar(page.items))) return this.gap();
    return { outcome: 'deeper', after };
  }

  private reachesKnown(items: readonly Listed[]): boolean {
    // The latest of three dates, so that a single delayed item has no effect.
    const last = items.slice(-3).map(({ createdAt }) => createdAt);
    const reachedAt = last.length === 3 ? Math.max(...last) : Infinity;
    this.unreached = this.unreached.filter(
      ({ anchors, completeSince }) =>
        reachedAt > completeSince - DATE_SLACK_MS && !items.some(({ name }) => anchors.has(name)),
    );
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

  private gap(): ReadingOutcome {
    const dates = this.lastPage.map(({ createdAt }) => createdAt);
    const missed = {
      afterThing: this.newestBefore,
      // The last page may have been outdated.
      afterAt: this.unreachedSince - DATE_SLACK_MS,
      beforeThing: this.lastPage.at(-1)?.name,
      beforeAt: dates.length === 0 ? this.startedAt : Math.max(...dates),
    };
    return { outcome: 'gap', missed };
  }
}
