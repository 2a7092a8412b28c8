/** What remains of a measurement after the next one: about seven count, so that chance overflows fewer readings. */
const DECAY = 0.85;
/** A reading that does not end says that the rate is higher than measured, but not how much. */
const EXCESS_FACTOR = 1.5;
/** An expected rate counts as a measurement of so many items. */
const EXPECTED_ITEMS = 160;

/** Measures how many new items a listing gets. */
export class ListingRate {
  /** Sums with decaying weights; their ratio is the rate. */
  private items = 0;
  private elapsedMs = 0;

  /** @param perSecond the expected rate in items a second; undefined: unknown */
  constructor(perSecond?: number) {
    if (perSecond === undefined) return;
    this.items = EXPECTED_ITEMS;
    this.elapsedMs = (1000 * EXPECTED_ITEMS) / Math.max(1e-9, perSecond);
  }

  /** Notes that so many items were new in so many milliseconds. */
  learn(items: number, elapsedMs: number): void {
    if (elapsedMs <= 0) return;
    this.items = DECAY * this.items + items;
    this.elapsedMs = DECAY * this.elapsedMs + elapsedMs;
  }

  /** Notes that more than so many items were new in so many milliseconds. */
  learnExcess(items: number, elapsedMs: number): void {
    if (elapsedMs <= 0) return;
    this.items = Math.max(items, (this.perSecond * elapsedMs) / 1000) * EXCESS_FACTOR;
    this.elapsedMs = elapsedMs;
  }

  /** Items a second; 0 while nothing is known. */
  get perSecond(): number {
    return (1000 * this.items) / Math.max(1, this.elapsedMs);
  }

  /** How long so many new items take. */
  msFor(items: number): number {
    return (1000 * items) / Math.max(1e-6, this.perSecond);
  }
}
