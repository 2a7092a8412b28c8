import type { Listed } from './crawl-source.ts';
import { RecentMap } from './seen-items.ts';

/** Dates are whole seconds and not quite in order. Closer ones do not tell which page is newer. */
export const DATE_SLACK_MS = 1_000;

/** When a page was current: by the dates on it, and by the order of the requests. */
interface PageOrder {
  at: number;
  sequence: number;
}

/** Before everything. */
export const NO_PAGE: PageOrder = { at: -Infinity, sequence: -1 };

/** By the middle one of three dates, so that a single odd date has no effect. */
export function orderOf(items: readonly Listed[], sequence: number): PageOrder {
  if (items.length === 0) return NO_PAGE;
  const dateAt = (part: number): number => items[Math.floor((items.length - 1) * part)]?.createdAt ?? -Infinity;
  const [a, b, c] = [dateAt(0.25), dateAt(0.5), dateAt(0.75)];
  return { at: Math.max(Math.min(a, b), Math.min(Math.max(a, b), c)), sequence };
}

export function isNewer(order: PageOrder, than: PageOrder): boolean {
  const apart = order.at - than.at;
  return Math.abs(apart) > DATE_SLACK_MS ? apart > 0 : order.sequence > than.sequence;
}

/** True if the dates alone show that the page is older. */
export function isOutdated(order: PageOrder, newest: PageOrder): boolean {
  return order.at < newest.at - DATE_SLACK_MS;
}

export const PAGE_SIZE = 100;
/** A deeper page begins this many items above the oldest known one and must show one of them: any may be deleted. */
export const OVERLAP = 3;
/** New items to expect on a page: the margin is 1.5 standard deviations, so one page in fifteen does not suffice. */
export const FRESH_OF_PAGE = PAGE_SIZE - 1.5 * Math.sqrt(PAGE_SIZE);

/** Names at the lower end of a segment that are kept for cursors. */
const TAIL = 100;
/** Newest names of a segment that are kept for the saved position. */
const SAVED_NAMES = 500;

/** A part of the listing that was not read yet, below a segment. Times are milliseconds since 1970. */
export interface Hole {
  openedAt: number;
  /** The page that the next call asks for begins after this item. */
  cursor: string;
  /** How often the cursor was moved back, because the page after it did not show what it should. */
  retreats: number;
  isInFlight: boolean;
  pages: number;
  failures: number;
  retryAt: number;
}

/** A part of the listing that is known to be contiguous. */
export class Segment {
  /** The segment that this one is a part of since they were joined. */
  joinedInto: Segment | undefined;
  newest: { name: string; createdAt: number | undefined } | undefined;
  /** When the page that showed `newest` was current. */
  order: PageOrder;
  /** The latest creation time on the page that ends with the oldest item; delayed items do not affect it. */
  latestOfLastPage: number | undefined;
  /** Undefined for the lowest segment, which is contiguous with everything read before. */
  hole: Hole | undefined;
  /** Names at the lower end, oldest last. */
  private tail: string[] = [];
  /** Names near the upper end, newest last. */
  private newestNames: string[] = [];

  constructor(order: PageOrder) {
    this.order = order;
  }

  /** The name `steps` above the oldest one. */
  aboveOldest(steps: number): string | undefined {
    return this.tail.at(-1 - steps);
  }

  /** Appends a page, newest first, at the lower end. */
  extendDown(items: readonly Listed[]): void {
    const names = items.map(({ name }) => name);
    this.tail = (names.length >= TAIL ? names : [...this.tail, ...names]).slice(-TAIL);
    this.latestOfLastPage = items.length === 0 ? undefined : Math.max(...items.map(({ createdAt }) => createdAt));
  }

  /** Adds names, newest last. Those of a deeper page belong below the others. */
  addNames(names: readonly string[], isDeep: boolean): void {
    if (isDeep) {
      if (this.newestNames.length < SAVED_NAMES) this.newestNames = [...names, ...this.newestNames];
      return;
    }
    this.newestNames.push(...names);
    if (this.newestNames.length > 2 * SAVED_NAMES) this.newestNames = this.newestNames.slice(-SAVED_NAMES);
  }

  /** The newest names, oldest first; the last one is that of `newest`. */
  savedNames(): string[] {
    const { newest } = this;
    const others = this.newestNames.slice(-SAVED_NAMES).filter((name) => name !== newest?.name);
    return newest ? [...others, newest.name] : others;
  }

  /** Makes the segment above a part of this one; this one keeps its lower end and the hole below it. */
  absorb(upper: Segment): void {
    upper.joinedInto = this;
    upper.hole = undefined;
    this.newest = upper.newest ?? this.newest;
    this.order = upper.order;
    this.addNames(upper.newestNames, false);
    upper.newestNames = [];
    upper.tail = [];
  }
}

/** The segment that this one is a part of now. Shortens the path, as in a disjoint-set forest. */
function rootOf(segment: Segment): Segment {
  let root = segment;
  while (root.joinedInto) root = root.joinedInto;
  for (let node = segment; node.joinedInto;) {
    const next: Segment = node.joinedInto;
    node.joinedInto = root;
    node = next;
  }
  return root;
}

/** Names that are remembered: more than a minute of all comments, so that an outdated page from a cache joins too. */
const ANCHORS = 20_000;

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

/** The segments of a listing, newest first, and the segment of each name. */
export class SegmentList {
  /** A dropped name is unknown, so it can cause a gap, but never a false join. */
  private readonly names = new RecentMap<Segment>(ANCHORS);
  private readonly segments: Segment[] = [];

  get size(): number {
    return this.segments.length;
  }

  get newest(): Segment | undefined {
    return this.segments[0];
  }

  /** It is contiguous with everything that was read before. */
  get lowest(): Segment | undefined {
    return this.segments.at(-1);
  }

  /** Every hole and the segment above it, newest first. */
  holes(): { segment: Segment; hole: Hole }[] {
    return this.segments.flatMap((segment) => (segment.hole ? [{ segment, hole: segment.hole }] : []));
  }

  below(segment: Segment): Segment | undefined {
    return this.segments[this.segments.indexOf(segment) + 1];
  }

  isKnown(name: string): boolean {
    return this.names.get(name) !== undefined;
  }

  /** The segments that items of a page are in, and the number of unknown items. */
  touchedBy(items: readonly Listed[]): { touched: Segment[]; fresh: number } {
    const touched: Segment[] = [];
    let fresh = 0;
    let last: Segment | undefined;
    for (const { name } of items) {
      const known = this.names.get(name);
      const segment = known && rootOf(known);
      if (!segment) fresh += 1;
      else if (segment !== last && !touched.includes(segment)) touched.push(segment);
      last = segment ?? last;
    }
    return { touched, fresh };
  }

  /** Joins segments into the lowest of them and returns it. */
  join(touched: readonly Segment[]): Segment | undefined {
    if (touched.length <= 1) return touched[0];
    const indexes = touched.map((segment) => this.segments.indexOf(segment)).sort((a, b) => b - a);
    const lowest = this.segments[indexes[0] ?? -1];
    for (const index of indexes.slice(1)) {
      const [upper] = this.segments.splice(index, 1);
      if (upper) lowest?.absorb(upper);
    }
    return lowest;
  }

  joinBelow(segment: Segment): void {
    const index = this.segments.indexOf(segment);
    this.segments[index + 1]?.absorb(segment);
    this.segments.splice(index, 1);
  }

  /** Joins a segment with the one below it, and returns what may be missing in between. */
  giveUp(segment: Segment): MissedStretch {
    const lower = this.below(segment);
    const missed = {
      afterThing: lower?.newest?.name,
      afterAt: lower?.newest?.createdAt,
      beforeThing: segment.aboveOldest(0),
      beforeAt: segment.latestOfLastPage,
    };
    this.joinBelow(segment);
    return missed;
  }

  /** The index above the first older segment; undefined if all are newer. */
  indexFor(order: PageOrder): number | undefined {
    const index = this.segments.findIndex((segment) => isNewer(order, segment.order));
    return index < 0 ? undefined : index;
  }

  /** Makes a page a segment of its own. */
  insert(items: readonly Listed[], order: PageOrder, index: number): Segment {
    const segment = new Segment(order);
    segment.newest = items[0];
    segment.extendDown(items);
    this.segments.splice(index, 0, segment);
    this.remember(segment, items);
    return segment;
  }

  /** Makes the saved names the lowest segment. */
  restore({ anchors, newestAt }: { anchors: readonly string[]; newestAt: number | undefined }): void {
    const segment = new Segment({ at: newestAt ?? -Infinity, sequence: -1 });
    for (const name of anchors) this.names.set(name, segment);
    segment.addNames(anchors, false);
    const name = anchors.at(-1);
    if (name !== undefined) segment.newest = { name, createdAt: newestAt };
    this.segments.push(segment);
  }

  /** Adds the unknown names of a page to a segment. */
  remember(segment: Segment, items: readonly Listed[], isDeep = false): void {
    const added: string[] = [];
    for (let index = items.length - 1; index >= 0; index--) {
      const name = items[index]?.name;
      if (name === undefined || this.isKnown(name)) continue;
      this.names.set(name, segment);
      added.push(name);
    }
    segment.addNames(added, isDeep);
  }
}
