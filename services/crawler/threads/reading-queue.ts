import type { TrackedPosts } from './tracked-posts.ts';

/**
 * So often in a row a reading may be broken off without having found anything. The pauses between them, from half a
 * minute to ten, add up to more than an hour.
 */
export const MAX_FRUITLESS = 12;
/** After so many the pause is the longest. */
export const FRUITLESS_AT_LONGEST = 6;
const SHORTEST_REST_MS = 30_000;
const LONGEST_REST_MS = 600_000;

/** The pause in milliseconds after so many fruitless readings in a row, at least one. */
export function restMs(fruitless: number): number {
  return Math.min(LONGEST_REST_MS, SHORTEST_REST_MS * 2 ** (fruitless - 1));
}

/**
 * Chooses the thread to read among the posts with a deficit: the largest deficit first, among equal ones the latest;
 * every second time one that a gap waits for, so that gaps are closed however many threads wait.
 */
export class ReadingQueue {
  private readonly posts: TrackedPosts;
  /** Slots that gaps wait for, in the order in which they are to be read. */
  private owed: readonly number[] = [];
  private taken = 0;

  constructor(posts: TrackedPosts) {
    this.posts = posts;
  }

  setOwed(slots: readonly number[]): void {
    this.owed = slots;
  }

  take(now: number): number | undefined {
    this.taken += 1;
    const owed = this.taken % 2 === 1 ? this.owed.find((slot) => this.isOpen(slot, now)) : undefined;
    return owed ?? this.largest(now);
  }

  /** Whether a thread may be read now. */
  hasOpen(now: number): boolean {
    for (const slot of this.posts.waiting) if (this.isOpen(slot, now)) return true;
    return false;
  }

  /**
   * What was taken was not read for want of budget. Its turn is repeated: where every second attempt fails, one kind
   * would never be read otherwise.
   */
  repeatTurn(): void {
    this.taken -= 1;
  }

  private largest(now: number): number | undefined {
    const { waiting, deficit } = this.posts;
    let largest: number | undefined;
    for (const slot of waiting) {
      if ((largest === undefined || deficit[slot]! >= deficit[largest]!) && this.isOpen(slot, now)) largest = slot;
    }
    return largest;
  }

  private isOpen(slot: number, now: number): boolean {
    const { waiting, reading, restsUntil } = this.posts;
    return waiting.has(slot) && reading[slot] === 0 && restsUntil[slot]! <= now;
  }
}
