import { ListingRate } from './listing-rate.ts';
import type { PageLesson } from './listing-timeline.ts';
import { freshOfPages, PAGE_SIZE } from './page-room.ts';

/** Pages of one reading, from the newest down to what is known. More would save little. */
const MOST_PAGES = 5;
/** Less than half of what the forum's listings hold: when the last page of a reading comes, it should lie higher. */
const DEEPEST = 450;
/** A page that overflows although it was expected to have room for so many standard deviations was no chance. */
const SURPRISE = 3;
/** After the start and after a surprise, so many readings have one page, until the rate is known. */
const CAUTIOUS_READINGS = 8;
/** What remains of the longest round trip after the next one. */
const ROUND_TRIP_LEFT = 0.98;

/**
 * Measures how fast a listing moves, and decides how often its newest page is read. The pages of a reading, from the
 * newest down to what is known, should come back nearly full. While one page fills in less than `maxMs`, readings have
 * several pages, which have less room for chance each, and begin about as often as that. Answers may arrive in any
 * order. Times are milliseconds since 1970.
 */
export class HeadInterval {
  /** Pages that a reading should have. */
  pages = 1;
  private readonly minMs: number;
  private maxMs: number;
  private readonly rate = new ListingRate();
  private last: { sequence: number; sentAt: number } | undefined;
  /** Items that were new on any page since `last`. */
  private fresh = 0;
  private lastElapsedMs = 0;
  private roundTripMs = 0;
  /** Readings since the start or the last surprise. */
  private calm = 0;

  /** @param options.maxMs the longest interval, however slow the listing is */
  constructor({ minMs, maxMs }: { minMs: number; maxMs: number }) {
    this.minMs = minMs;
    this.maxMs = maxMs;
  }

  setMax(maxMs: number): void {
    this.maxMs = maxMs;
  }

  /** Notes what a newest page was found to be. It counts from the latest one before it that was answered. */
  learn(request: { sequence: number; sentAt: number }, { fresh, outcome }: PageLesson): void {
    if (outcome === 'ignored') return;
    this.fresh += fresh;
    if (this.last && request.sequence <= this.last.sequence) return;
    const elapsedMs = this.last ? request.sentAt - this.last.sentAt : 0;
    this.last = { sequence: request.sequence, sentAt: request.sentAt };
    const expected = (this.rate.perSecond * elapsedMs) / 1000;
    const isSurprise = outcome === 'overflow' && expected + SURPRISE * Math.sqrt(expected) < PAGE_SIZE;
    if (outcome !== 'first') {
      if (isSurprise) this.surprised(this.fresh, elapsedMs);
      else this.rate.learn(this.fresh, elapsedMs);
    }
    this.fresh = 0;
    this.lastElapsedMs = elapsedMs;
    this.calm += 1;
    this.choosePages();
  }

  /** Notes another page. `depth`: of a page below a newest one, the pages of its reading so far. */
  learnOther({ fresh, outcome }: PageLesson, depth = 0): void {
    if (outcome === 'ignored') return;
    this.fresh += fresh;
    // One page more can be chance.
    if (fresh < PAGE_SIZE / 2 || depth !== this.pages + 2) return;
    this.surprised(0, this.lastElapsedMs);
    this.choosePages();
  }

  /** Notes how long a call took until its page was learned. */
  learnRoundTrip(ms: number): void {
    this.roundTripMs = Math.max(ms, ROUND_TRIP_LEFT * this.roundTripMs);
  }

  /** How long the listing takes for as many new items as a reading should bring. */
  get fillMs(): number {
    return this.rate.msFor(freshOfPages(this.pages));
  }

  get intervalMs(): number {
    // A reading of several pages begins later than the longest interval, so that the pages are full.
    const most = this.pages === 1 ? this.maxMs : Infinity;
    return Math.max(this.minMs, Math.min(most, this.fillMs));
  }

  /** Calls a second, with deeper pages. */
  get callsPerSecond(): number {
    return (this.pages * 1000) / this.intervalMs;
  }

  private surprised(items: number, elapsedMs: number): void {
    this.rate.learnExcess(items, elapsedMs);
    this.calm = 0;
  }

  private choosePages(): void {
    const depthOf = (pages: number): number =>
      freshOfPages(pages) + (this.rate.perSecond * this.roundTripMs * (pages - 1)) / 1000;
    this.pages = 1;
    if (this.calm < CAUTIOUS_READINGS) return;
    while (this.pages < MOST_PAGES && this.fillMs < this.maxMs && depthOf(this.pages + 1) <= DEEPEST) this.pages += 1;
  }
}
