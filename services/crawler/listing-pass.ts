import { SeenThings } from './seen-things.ts';

/** The forum ends every listing at about this many items. */
const LISTING_DEPTH = 1000;
/** A listing that ended this short of its depth has nothing more to show, so nothing is missing. */
const SURELY_WHOLE = 900;
/** So many of the newest names are remembered as anchors: any of them may vanish, all of them never do. */
const ANCHORS = 500;
const RETREAT_STEP = 20;
const MOST_RETREATS = 3;

/** What one page says about the pass it belongs to. */
export type PageVerdict =
  /** It reaches something seen in an earlier pass: nothing is missing in between. */
  | { outcome: 'joined' }
  /** Only new items: the pass has to go deeper, from this cursor. */
  | { outcome: 'deeper'; after: string }
  /** The end was reached without anything seen before: a stretch may be missing. */
  | { outcome: 'gap'; afterThing: string | undefined; beforeThing: string | undefined }
  /** The very first page of a source without history, or the whole of a short listing. */
  | { outcome: 'complete' };

/**
 * How far a listing was read. A pass begins at the newest item and goes deeper, page by page, until it meets something that an
 * earlier pass saw. What a pass saw becomes an anchor only when the pass has ended: an interrupted pass must not look
 * like a finished one, or the items behind it would be lost without a trace.
 */
export class ListingPass {
  private readonly anchors = new SeenThings(2 * ANCHORS);
  private names: string[] = [];
  private after: string | undefined;
  private pages = 0;
  /** Empty pages in a row: the item a cursor names can vanish, then an earlier one is tried. */
  private retreats = 0;

  constructor(anchors: readonly string[] = []) {
    for (const name of anchors) this.anchors.add(name);
  }

  /** Cursor of the page to read next; undefined: the newest. */
  get cursor(): string | undefined {
    return this.after;
  }

  get isFirstPage(): boolean {
    return this.pages === 0;
  }

  /** What a page means. Nothing changes until `accept`. `names` are newest first. */
  judge(names: readonly string[], after: string | undefined): PageVerdict {
    if (names.some((name) => this.anchors.has(name))) return { outcome: 'joined' };
    if (this.anchors.size === 0) return { outcome: 'complete' };
    if (names.length === 0 && this.after !== undefined) return this.retreat();
    const read = this.names.length + names.length;
    if (after !== undefined && read < LISTING_DEPTH) return { outcome: 'deeper', after };
    if (read < SURELY_WHOLE) return { outcome: 'complete' };
    return this.gapBefore(names.at(-1));
  }

  /** New names of this page, the measure of how fast the listing moves. */
  countNew(names: readonly string[]): number {
    return names.filter((name) => !this.anchors.has(name)).length;
  }

  /** Moves on after everything on the page was acknowledged. */
  accept(names: readonly string[], verdict: PageVerdict): void {
    this.names.push(...names);
    this.pages += 1;
    this.retreats = names.length === 0 ? this.retreats + 1 : 0;
    if (verdict.outcome === 'deeper') {
      this.after = verdict.after;
      return;
    }
    for (const name of this.names.reverse()) this.anchors.add(name);
    this.names = [];
    this.after = undefined;
    this.pages = 0;
    this.retreats = 0;
  }

  /** True once something was seen, so that an empty first page is no honest answer any more. */
  get hasHistory(): boolean {
    return this.anchors.size > 0;
  }

  /** The newest anchors, oldest first: what a restart needs. */
  newestAnchors(): string[] {
    return this.anchors.newest(ANCHORS);
  }

  private retreat(): PageVerdict {
    const earlier = this.names.at(-1 - (this.retreats + 1) * RETREAT_STEP);
    if (earlier === undefined || this.retreats >= MOST_RETREATS) return this.gapBefore(this.names.at(-1));
    return { outcome: 'deeper', after: earlier };
  }

  private gapBefore(beforeThing: string | undefined): PageVerdict {
    return { outcome: 'gap', afterThing: this.anchors.newest(1)[0], beforeThing };
  }
}
