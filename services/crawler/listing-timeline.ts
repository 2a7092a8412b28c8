import type { Listed } from './crawl-source.ts';
import type { Hole, MissedStretch, Segment } from './listing-segment.ts';
import { DATE_SLACK_MS, isNewer, isOutdated, NO_PAGE, orderOf, OVERLAP, SegmentList } from './listing-segment.ts';

/** If a page does not show what it should, an item this many items above is tried, and then one twice as far. */
const RETREAT = 20;
const MAX_RETREATS = 2;
/** The forum ends every listing after about a thousand items. More pages mean that its cursors form a loop. */
const MAX_PAGES = 30;
/** A hole that is open for longer is given up: at any usual rate the listing has moved on by then. */
const MAX_HOLE_MS = 30_000;
const MAX_HOLES = 50;
/** Pages older than everything known are outdated, but after this time the forum itself has gone back. */
const MAX_OUTDATED_MS = 60_000;
const MIN_RETRY_MS = 250;
const MAX_RETRY_MS = 4_000;

/** A call for the newest page, or for the page after `after` that reads into `hole`. */
export interface PageRequest {
  /** Counts the requests for newest pages in the order in which they were sent. */
  sequence: number;
  after: string | undefined;
  hole: Hole | undefined;
}

export interface ListingPage {
  /** Newest first. */
  items: readonly Listed[];
  /** The forum's cursor to the next page; undefined at the end of the listing. */
  after: string | undefined;
}

/** What a page was found to be. */
export interface PageLesson {
  /** Items that were not known. */
  fresh: number;
  /**
   * - joined: it shows known items;
   * - overflow: it shows none, so items between them and the page are to be read;
   * - first: nothing was known before;
   * - ignored: it is outdated, or says nothing.
   */
  outcome: 'joined' | 'overflow' | 'first' | 'ignored';
}

/** Where reading resumes after a restart. */
export interface ListingPosition {
  /** Oldest first; the last one is the newest item known. */
  anchors: string[];
  /** When the newest anchor was created, in milliseconds since 1970. */
  newestAt?: number | undefined;
}

/**
 * What is known of a listing that several calls read at once. It consists of segments, newest first, each known to be
 * contiguous, with a hole below each but the lowest. A page shows a contiguous part of the listing as it was at one
 * moment, so it joins all segments that it shares items with, in whatever order the answers arrive. A newest page that
 * shares no item becomes a segment of its own. A hole is read from above, page by page, until a page reaches the
 * segment below. A hole that cannot be closed is a gap; then its two segments count as one.
 *
 * The order of segments follows dates and requests, and an outdated page from a cache can get it wrong. That costs
 * needless calls, but loses nothing: only common items join, and the joined segment takes the place and the hole of the
 * lower one. Times are milliseconds since 1970.
 */
export class ListingTimeline {
  private readonly segments = new SegmentList();
  private gaps: MissedStretch[] = [];
  /** The date of the first page of a source without history: nothing older is looked for. */
  private beganAt = Number.NEGATIVE_INFINITY;
  /** When the listing stopped showing anything but outdated pages. */
  private outdatedSince: number | undefined;
  /** When the newest page was first refused. */
  private failingSince: number | undefined;

  /** `position`: as returned by `position()`; undefined for a source without history. */
  constructor(position?: ListingPosition) {
    if (position) this.segments.restore({ anchors: position.anchors, newestAt: position.newestAt });
  }

  /** True once an item was seen: from then on an empty newest page is a failure of the forum. */
  get hasHistory(): boolean {
    return this.segments.newest?.newest !== undefined;
  }

  get openHoles(): number {
    return Math.max(0, this.segments.size - 1);
  }

  /** The hole to read next, newest first: the newest can still be closed when the forum is faster than the reader. */
  holeToRead(now: number): Hole | undefined {
    return this.segments.holes().find(({ hole }) => !hole.isInFlight && hole.retryAt <= now)?.hole;
  }

  /** When the next hole may be read; Infinity if none waits. */
  nextRetryAt(): number {
    const waiting = this.segments.holes().filter(({ hole }) => !hole.isInFlight);
    return Math.min(Infinity, ...waiting.map(({ hole }) => hole.retryAt));
  }

  /** Learns a page once the broker has acknowledged everything on it. */
  learn(request: PageRequest, page: ListingPage, now: number): PageLesson {
    const reading = this.readingOf(request);
    if (request.hole) request.hole.isInFlight = false;
    else this.markAnswered(now);
    const { touched, fresh } = this.segments.touchedBy(page.items);
    const isEvident = reading !== undefined && (touched.includes(reading) || isTooShort(reading));
    if (isEvident && !touched.includes(reading)) touched.push(reading);
    const isAdvance = isEvident && (fresh > 0 || touched.length > 1);
    const joined = this.segments.join(touched);
    let outcome: PageLesson['outcome'] = 'ignored';
    if (joined) outcome = this.extend(joined, request, page, { fresh, isLower: isAdvance && joined === reading });
    else if (!request.hole) outcome = this.insertPage(page, request.sequence, now);
    // The hole is closed if the page reached a lower segment.
    if (reading?.hole)
      this.evaluateHole(reading, reading.hole, { isAdvance, isEvident, isEnd: page.after === undefined });
    return { fresh, outcome };
  }

  /** The call failed, or its items could not be published. */
  failed(request: PageRequest, now: number): void {
    const { hole } = request;
    if (!hole) {
      this.failingSince ??= now;
      return;
    }
    hole.isInFlight = false;
    hole.retryAt = now + Math.min(MAX_RETRY_MS, MIN_RETRY_MS * 2 ** hole.failures);
    hole.failures += 1;
  }

  /** True from a failure of the newest page until its next answer. */
  get isFailing(): boolean {
    return this.failingSince !== undefined;
  }

  /** Gives up the holes that are open for too long, oldest first; none while the forum does not answer. */
  expire(now: number): void {
    if (this.openHoles === 0 || this.isFailing) return;
    for (const { segment, hole } of this.segments.holes().reverse()) {
      if (hole.isInFlight) continue;
      if (now - hole.openedAt > MAX_HOLE_MS) this.giveUp(segment);
    }
  }

  /** The gaps since the last call. */
  takeGaps(): MissedStretch[] {
    const { gaps } = this;
    if (gaps.length > 0) this.gaps = [];
    return gaps;
  }

  /** Of the lowest segment: what lies above it is read again after a restart. */
  position(): ListingPosition | undefined {
    const { lowest } = this.segments;
    return lowest && { anchors: lowest.savedNames(), newestAt: lowest.newest?.createdAt };
  }

  /** The segment whose hole the request reads, if that hole is still open and was not read by another page. */
  private readingOf({ hole: asked, after }: PageRequest): Segment | undefined {
    if (asked?.cursor !== after) return undefined;
    return this.segments.holes().find(({ hole }) => hole === asked)?.segment;
  }

  /** Adds a page to the segment that it belongs to. */
  private extend(
    segment: Segment,
    request: PageRequest,
    { items }: ListingPage,
    { fresh, isLower }: { fresh: number; isLower: boolean },
  ): PageLesson['outcome'] {
    const first = items[0];
    const last = items.at(-1);
    if (!first || !last) return 'ignored';
    const order = orderOf(items, request.sequence);
    const isOld = this.segments.newest !== undefined && isOutdated(order, this.segments.newest.order);
    if (!request.hole) {
      this.outdatedSince = undefined;
      if (isNewer(order, segment.order) && !this.segments.isKnown(first.name)) {
        segment.newest = first;
        segment.order = order;
      }
    }
    const oldest = segment.aboveOldest(0);
    const isBelow = !this.segments.isKnown(last.name) && items.some(({ name }) => name === oldest);
    if (isLower || isBelow) segment.extendDown(items);
    if (segment.hole && isBelow) segment.hole.cursor = cursorOf(segment) ?? segment.hole.cursor;
    if (fresh > 0) this.segments.remember(segment, items, request.hole !== undefined);
    return isOld ? 'ignored' : 'joined';
  }

  /** Makes a newest page without known items a segment of its own. */
  private insertPage({ items, after }: ListingPage, sequence: number, now: number): PageLesson['outcome'] {
    const order = orderOf(items, sequence);
    if (this.segments.size === 0) {
      this.segments.insert(items, order, 0);
      this.beganAt = order.at;
      return 'first';
    }
    const index = order === NO_PAGE ? undefined : this.indexAt(this.segments.indexFor(order), now);
    if (index === undefined) return 'ignored';
    const segment = this.segments.insert(items, order, index);
    const cursor = cursorOf(segment) ?? '';
    const untouched = { retreats: 0, isInFlight: false, pages: 1, failures: 0 };
    segment.hole = { openedAt: now, cursor, retryAt: now, ...untouched };
    if (after === undefined && !this.segments.below(segment)?.newest) {
      // The listing was empty before, and this single page shows all of it.
      this.segments.joinBelow(segment);
      return 'first';
    }
    if (after === undefined) this.giveUp(segment);
    const lowestHole = this.segments.holes().at(-1);
    if (this.openHoles > MAX_HOLES && lowestHole) this.giveUp(lowestHole.segment);
    return 'overflow';
  }

  /** A page that is older than everything known has no place, unless the listing shows no other pages any more. */
  private indexAt(index: number | undefined, now: number): number | undefined {
    if (index === undefined) {
      this.outdatedSince ??= now;
      if (now - this.outdatedSince < MAX_OUTDATED_MS) return undefined;
      // Dates no longer tell what came before the first page.
      this.beganAt = Number.NEGATIVE_INFINITY;
    }
    this.outdatedSince = undefined;
    return index ?? 0;
  }

  /** Decides how reading into a hole goes on after one of its pages. */
  private evaluateHole(
    segment: Segment,
    hole: Hole,
    { isAdvance, isEvident, isEnd }: { isAdvance: boolean; isEvident: boolean; isEnd: boolean },
  ): void {
    hole.pages += 1;
    hole.retreats = isAdvance ? 0 : hole.retreats + 1;
    const next = isAdvance ? cursorOf(segment) : segment.aboveOldest(RETREAT * hole.retreats);
    const isStuck = hole.retreats > MAX_RETREATS || next === undefined;
    if (isStuck || (isEvident && isEnd) || hole.pages >= MAX_PAGES) {
      this.giveUp(segment);
      return;
    }
    hole.failures = 0;
    hole.cursor = next;
  }

  /**
   * Records the hole below a segment as a gap. There is none if the segment began with a page about as old as the first
   * one and was read down to items older than that: then its page was outdated, from just before the first one.
   */
  private giveUp(segment: Segment): void {
    const isAsOld = segment.order.at <= this.beganAt + DATE_SLACK_MS;
    const missed = this.segments.giveUp(segment);
    const isBefore = isAsOld && missed.beforeAt !== undefined && missed.beforeAt < this.beganAt - DATE_SLACK_MS;
    if (!isBefore) this.gaps.push(missed);
  }

  /** The forum answers again: holes could not be read in the meantime. */
  private markAnswered(now: number): void {
    if (this.failingSince === undefined) return;
    const failedForMs = Math.max(0, now - this.failingSince);
    this.failingSince = undefined;
    for (const { hole } of this.segments.holes()) hole.openedAt += failedForMs;
  }
}

/** The cursor of the page below a segment, so that the page shows some of it. */
function cursorOf(segment: Segment): string | undefined {
  return segment.aboveOldest(OVERLAP) ?? segment.aboveOldest(0);
}

/** True when no page below a segment can show a part of it. */
function isTooShort(segment: Segment): boolean {
  return segment.aboveOldest(OVERLAP) === undefined;
}
