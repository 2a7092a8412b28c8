import type { Listed } from '../listed.ts';
import type { Hole } from './listing-segment.ts';
import { Segment, SegmentsByName } from './listing-segment.ts';
import type { PageOrder } from './page-order.ts';
import { isNewer } from './page-order.ts';

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
  private readonly names = new SegmentsByName(ANCHORS);
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
    return this.names.find(name) !== undefined;
  }

  /** The segments that items of a page are in, and the number of unknown items. */
  touchedBy(items: readonly Listed[]): { touched: Segment[]; fresh: number } {
    const touched: Segment[] = [];
    let fresh = 0;
    let last: Segment | undefined;
    for (const { name } of items) {
      const segment = this.names.find(name);
      if (!segment) fresh += 1;
      else if (segment !== last && !touched.includes(segment)) touched.push(segment);
      last = segment ?? last;
    }
    return { touched, fresh };
  }

  /** Joins segments into the lowest of them and returns it. */
  join(touched: readonly Segment[]): Segment | undefined {
    if (touched.length <= 1) return touched[0];
    const places = touched.map((segment) => this.segments.indexOf(segment)).sort((a, b) => b - a);
    const lowest = this.segments[places[0] ?? -1];
    for (const place of places.slice(1)) {
      const [upper] = this.segments.splice(place, 1);
      if (upper) lowest?.absorb(upper);
    }
    return lowest;
  }

  /** Joins a segment with the one below it. */
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

  /** The place above the first older segment; undefined if all are newer. */
  placeOf(order: PageOrder): number | undefined {
    const index = this.segments.findIndex((segment) => isNewer(order, segment.order));
    return index < 0 ? undefined : index;
  }

  /** Makes a page a segment of its own. */
  insert(items: readonly Listed[], order: PageOrder, place: number): Segment {
    const segment = new Segment(order);
    segment.newest = items[0];
    segment.extendDown(items);
    this.segments.splice(place, 0, segment);
    this.remember(segment, items);
    return segment;
  }

  /** Makes the saved names the lowest segment. */
  restore({ anchors, newestAt }: { anchors: readonly string[]; newestAt: number | undefined }): void {
    const segment = new Segment({ at: newestAt ?? -Infinity, sequence: -1 });
    for (const name of anchors) this.names.add(name, segment);
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
      this.names.add(name, segment);
      added.push(name);
    }
    segment.addNames(added, isDeep);
  }
}
