import { SeenThings } from '../seen-things.ts';

/**
 * The forum ends every listing after about a thousand items. More pages than this mean that its cursors form a loop.
 */
const MAX_PAGES = 30;
/**
 * The number of names to remember as anchors: more than a minute of all comments, so that an outdated page from a cache
 * joins too.
 */
const ANCHORS = 10_000;
/** The number of newest anchors to save: any of them may be deleted, but not all. */
const SAVED_ANCHORS = 500;
/** If the item that a cursor names was deleted, the item this many places before it is tried. */
const RETREAT_STEP = 20;

/** An item of a listing. */
export interface Listed {
  /** Fullname. */
  name: string;
  /** Milliseconds since 1970, as the forum dates it. */
  createdAt: number;
}

/**
 * What may have been missed: everything that entered the listing after `afterThing` and before `beforeThing`. By the
 * forum's own dates that is everything created from `afterAt` to `beforeAt`. An item that the forum showed with a delay
 * can be dated earlier.
 */
export interface MissedStretch {
  /** The newest item known before the stretch; undefined if the listing was empty then. */
  afterThing: string | undefined;
  /** When `afterThing` was created, in milliseconds since 1970; undefined if unknown. */
  afterAt: number | undefined;
  /** The oldest item known after the stretch. */
  beforeThing: string | undefined;
  /** The latest creation time on the page that ends with `beforeThing`, in milliseconds since 1970. */
  beforeAt: number | undefined;
}

/** What one page means for its pass. */
export type PageVerdict =
  /** The page contains an item of an earlier pass: nothing is missing in between. */
  | { outcome: 'joined' }
  /** All items are new: the pass must read the next page, from this cursor. */
  | { outcome: 'deeper'; after: string }
  /** The listing ends before any item of an earlier pass: items may be missing. */
  | { outcome: 'gap'; missed: MissedStretch }
  /**
   * Nothing can be missing: the first page of a source without history, or a complete listing that was empty before.
   */
  | { outcome: 'complete' };

/** Where reading resumes after a restart. */
export interface PassPosition {
  /** Oldest first; the last one is the newest item known. */
  anchors: string[];
  /** When the newest anchor was created, in milliseconds since 1970. */
  newestAt?: number | undefined;
}

/**
 * Tracks how far a listing was read. A pass begins at the newest item and reads older pages until it reaches an anchor,
 * which is an item of an earlier pass. Meanwhile the listing's window of a thousand items slides, so a pass can reach
 * the end after far fewer items. Whatever its length, a pass that ends without an anchor is a gap. The items of a pass
 * become anchors only when it has ended. Otherwise the next pass would join an interrupted one, and the items below it
 * would be lost without a record.
 */
export class ListingPass {
  private readonly anchors = new SeenThings(2 * ANCHORS);
  private newest: { name: string; createdAt: number | undefined } | undefined;
  /** At least one page was read, even if it was empty. */
  private hasStarted: boolean;
  /** The distinct items of this pass, newest first. */
  private seen = new Map<string, Listed>();
  private after: string | undefined;
  private pages = 0;
  private hasRetreated = false;

  /** `position`: as returned by `position()`; undefined for a source without history. */
  constructor(position?: PassPosition) {
    this.hasStarted = position !== undefined;
    for (const name of position?.anchors ?? []) this.anchors.add(name);
    const name = position?.anchors.at(-1);
    if (name !== undefined) this.newest = { name, createdAt: position?.newestAt };
  }

  /** The cursor of the page to read next; undefined for the newest page. */
  get cursor(): string | undefined {
    return this.after;
  }

  get isFirstPage(): boolean {
    return this.pages === 0;
  }

  /**
   * Returns what a page means, without changing the state; `accept` does that. Items are newest first; `after` is the
   * forum's cursor to the next page.
   */
  judge(page: readonly Listed[], after: string | undefined): PageVerdict {
    if (page.some(({ name }) => this.anchors.has(name))) return { outcome: 'joined' };
    if (!this.hasStarted) return { outcome: 'complete' };
    // The listing was empty before, and this single page shows all of it.
    if (this.anchors.size === 0 && this.isFirstPage && after === undefined) return { outcome: 'complete' };
    const hasNewItems = page.some(({ name }) => !this.seen.has(name));
    if (!hasNewItems) return this.retreatOrGap(page);
    return after !== undefined && this.pages < MAX_PAGES ? { outcome: 'deeper', after } : this.gapAfter(page);
  }

  /** The number of new items on a page: the measure of how fast the listing moves. */
  countNew(page: readonly Listed[]): number {
    return page.filter(({ name }) => !this.anchors.has(name)).length;
  }

  /** Advances past a page after the broker has acknowledged everything on it. */
  accept(page: readonly Listed[], verdict: PageVerdict): void {
    this.hasRetreated = page.every(({ name }) => this.seen.has(name));
    for (const item of page) if (!this.seen.has(item.name)) this.seen.set(item.name, item);
    this.pages += 1;
    if (verdict.outcome === 'deeper') {
      this.after = verdict.after;
      return;
    }
    const newestFirst = [...this.seen.values()];
    // A page from a cache may be outdated; then the newest anchor does not change.
    const newest = newestFirst[0];
    if (newest && !this.anchors.has(newest.name)) this.newest = newest;
    for (const { name } of newestFirst.reverse()) this.anchors.add(name);
    this.hasStarted = true;
    this.seen = new Map();
    this.after = undefined;
    this.pages = 0;
    this.hasRetreated = false;
  }

  /** True once an item was seen: from then on an empty first page is a failure of the forum. */
  get hasHistory(): boolean {
    return this.anchors.size > 0;
  }

  position(): PassPosition {
    const others = this.anchors.newest(SAVED_ANCHORS).filter((name) => name !== this.newest?.name);
    return { anchors: this.newest ? [...others, this.newest.name] : others, newestAt: this.newest?.createdAt };
  }

  /**
   * The item that a cursor names may have been deleted. Then an item before it is tried, only once, because the window
   * slides with every call.
   */
  private retreatOrGap(page: readonly Listed[]): PageVerdict {
    const earlier = [...this.seen.keys()].at(-1 - RETREAT_STEP);
    if (earlier === undefined || this.hasRetreated) return this.gapAfter(page);
    return { outcome: 'deeper', after: earlier };
  }

  private gapAfter(page: readonly Listed[]): PageVerdict {
    const seen = [...this.seen.values(), ...page.filter(({ name }) => !this.seen.has(name))];
    // Delayed items are dated earlier than their neighbours. They do not affect the latest date of a page.
    const lastPage = seen.slice(-100).map(({ createdAt }) => createdAt);
    return {
      outcome: 'gap',
      missed: {
        afterThing: this.newest?.name,
        afterAt: this.newest?.createdAt,
        beforeThing: seen.at(-1)?.name,
        beforeAt: lastPage.length === 0 ? undefined : Math.max(...lastPage),
      },
    };
  }
}
