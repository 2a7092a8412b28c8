import type { Listed } from '../listed.ts';
import type { PageOrder } from './page-order.ts';

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
  /** Pages read so far. */
  pages: number;
  failures: number;
  retryAt: number;
}

/** A part of the listing that is known to be contiguous. */
export class Segment {
  /** The segment that this one is a part of since they were joined. */
  joinedInto: Segment | undefined;
  newest: { name: string; createdAt: number | undefined } | undefined;
  /** Of the page that showed `newest`. */
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

/**
 * The segments of the latest names, bounded: when it is full the older half is dropped. A dropped name is unknown, so
 * it can cause a gap, but never a false join.
 */
export class SegmentsByName {
  private readonly half: number;
  private recent = new Map<string, Segment>();
  private older = new Map<string, Segment>();

  constructor(capacity: number) {
    this.half = Math.max(1, Math.floor(capacity / 2));
  }

  find(name: string): Segment | undefined {
    const segment = this.recent.get(name) ?? this.older.get(name);
    return segment?.joinedInto ? rootOf(segment) : segment;
  }

  add(name: string, segment: Segment): void {
    if (this.recent.size >= this.half) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(name, segment);
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
