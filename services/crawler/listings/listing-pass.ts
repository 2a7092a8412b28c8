import { SeenThings } from '../seen-things.ts';

/** The forum ends every listing at about a thousand items; beyond this many pages its cursors lead in a circle. */
const MOST_PAGES = 30;
/**
 * So many names are remembered as anchors: more than a minute of all comments, so that an old page out of a cache joins
 * too.
 */
const ANCHORS = 10_000;
/** So many of the newest ones are saved: any of them may vanish, all of them never do. */
const SAVED_ANCHORS = 500;
/** Where the item that a cursor names vanished, an item this far above it is tried. */
const RETREAT_STEP = 20;

/** An item of a listing. */
export interface Listed {
  /** Fullname. */
  name: string;
  /** Milliseconds since 1970, as the forum dates it. */
  createdAt: number;
}

/**
 * What may be missing: everything that entered the listing after `afterThing` and before `beforeThing`. By the forum's
 * own dates that is everything created from `afterAt` to `beforeAt`, except what the forum showed later than its date
 * says.
 */
export interface MissedStretch {
  /** The newest item known before the stretch; undefined: the listing was empty then. */
  afterThing: string | undefined;
  /** When it was created, in milliseconds since 1970; undefined where that is not known. */
  afterAt: number | undefined;
  /** The oldest item known after the stretch. */
  beforeThing: string | undefined;
  /** The latest creation among the items of the page that ends with it. */
  beforeAt: number | undefined;
}

/** What one page says about the pass it belongs to. */
export type PageVerdict =
  /** It reaches something seen in an earlier pass: nothing is missing in between. */
  | { outcome: 'joined' }
  /** Only new items: the pass has to go deeper, from this cursor. */
  | { outcome: 'deeper'; after: string }
  /** The listing ends without anything seen in an earlier pass: a stretch may be missing. */
  | { outcome: 'gap'; missed: MissedStretch }
  /** Nothing can be missing: the first page of a source without history, or all of a listing that was empty before. */
  | { outcome: 'complete' };

/** Where reading goes on after a restart. */
export interface PassPosition {
  /** Oldest first; the last one is the newest item known. */
  anchors: string[];
  /** Creation of the newest anchor, in milliseconds since 1970. */
  newestAt?: number | undefined;
}

/**
 * How far a listing was read. A pass begins at the newest item and goes deeper, page by page, until it meets something
 * that an earlier pass saw. While it does, the listing's window of a thousand items slides, so a pass can end after far
 * fewer: whatever its length, an end without such a meeting is a gap. What a pass saw becomes an anchor only when the
 * pass has ended: an interrupted pass must not look like a finished one, or the items behind it would be lost without a
 * trace.
 */
export class ListingPass {
  private readonly anchors = new SeenThings(2 * ANCHORS);
  private newest: { name: string; createdAt: number | undefined } | undefined;
  /** A page was read once, even if it was empty. */
  private begun: boolean;
  /** What this pass saw, newest first, each once. */
  private seen = new Map<string, Listed>();
  private after: string | undefined;
  private pages = 0;
  private hasRetreated = false;

  /** `position` as saved; undefined for a source without history. */
  constructor(position?: PassPosition) {
    this.begun = position !== undefined;
    for (const name of position?.anchors ?? []) this.anchors.add(name);
    const name = position?.anchors.at(-1);
    if (name !== undefined) this.newest = { name, createdAt: position?.newestAt };
  }

  /** Cursor of the page to read next; undefined: the newest. */
  get cursor(): string | undefined {
    return this.after;
  }

  get isFirstPage(): boolean {
    return this.pages === 0;
  }

  /**
   * What a page means. Nothing changes until `accept`. Items are newest first; `after` is the forum's cursor to the
   * next page.
   */
  judge(page: readonly Listed[], after: string | undefined): PageVerdict {
    if (page.some(({ name }) => this.anchors.has(name))) return { outcome: 'joined' };
    if (!this.begun) return { outcome: 'complete' };
    // Nothing was there, and one answer shows all there is now.
    if (this.anchors.size === 0 && this.isFirstPage && after === undefined) return { outcome: 'complete' };
    const brings = page.some(({ name }) => !this.seen.has(name));
    if (!brings) return this.retreatOrGap(page);
    return after !== undefined && this.pages < MOST_PAGES ? { outcome: 'deeper', after } : this.gapAfter(page);
  }

  /** New names of this page, the measure of how fast the listing moves. */
  countNew(page: readonly Listed[]): number {
    return page.filter(({ name }) => !this.anchors.has(name)).length;
  }

  /** Moves on after everything on the page was acknowledged. */
  accept(page: readonly Listed[], verdict: PageVerdict): void {
    this.hasRetreated = page.every(({ name }) => this.seen.has(name));
    for (const item of page) if (!this.seen.has(item.name)) this.seen.set(item.name, item);
    this.pages += 1;
    if (verdict.outcome === 'deeper') {
      this.after = verdict.after;
      return;
    }
    const newestFirst = [...this.seen.values()];
    // A page from a cache may be older than what is known: the newest anchor stays what it was.
    const newest = newestFirst[0];
    if (newest && !this.anchors.has(newest.name)) this.newest = newest;
    for (const { name } of newestFirst.reverse()) this.anchors.add(name);
    this.begun = true;
    this.seen = new Map();
    this.after = undefined;
    this.pages = 0;
    this.hasRetreated = false;
  }

  /** True once something was seen, so that an empty first page is no honest answer any more. */
  get hasHistory(): boolean {
    return this.anchors.size > 0;
  }

  position(): PassPosition {
    const others = this.anchors.newest(SAVED_ANCHORS).filter((name) => name !== this.newest?.name);
    return { anchors: this.newest ? [...others, this.newest.name] : others, newestAt: this.newest?.createdAt };
  }

  /**
   * The item that a cursor names can vanish: then an earlier one is tried, once, because every call lets the window
   * slide.
   */
  private retreatOrGap(page: readonly Listed[]): PageVerdict {
    const earlier = [...this.seen.keys()].at(-1 - RETREAT_STEP);
    if (earlier === undefined || this.hasRetreated) return this.gapAfter(page);
    return { outcome: 'deeper', after: earlier };
  }

  private gapAfter(page: readonly Listed[]): PageVerdict {
    const seen = [...this.seen.values(), ...page.filter(({ name }) => !this.seen.has(name))];
    // Late items are dated earlier than their neighbours; the latest date of a page is a bound that they do not pull
    // down.
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
