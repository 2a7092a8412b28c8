import type { TrackedPosts } from './tracked-posts.ts';

const LARGEST = 255;
/** Every such reading is the one that waits longest, so that small deficits are read too. */
const OLDEST_EVERY = 4;
/** Every such reading is one that a gap waits for, as long as there are some. */
const OWED_EVERY = 2;
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
 * Posts whose thread should be read: the largest deficit first, among equal ones the latest; every second time one that
 * a gap waits for, so that gaps are closed however many threads wait.
 */
export class ReadingQueue {
  private readonly posts: TrackedPosts;
  /** Slots by deficit; a slot that has another deficit by now is skipped. */
  private readonly stacks: number[][] = Array.from({ length: LARGEST + 1 }, () => []);
  private order: { slot: number; id: string }[] = [];
  private oldest = 0;
  /** Slots that gaps wait for, the first one to be read last. */
  private owed: number[] = [];
  private readonly owedTaken = new Set<number>();
  /** Slots that wait for `restsUntil`, and when the first of them may be read. */
  private resting: { slot: number; id: string }[] = [];
  private releaseAt = Number.POSITIVE_INFINITY;
  private taken = 0;
  private entries = 0;

  constructor(posts: TrackedPosts) {
    this.posts = posts;
  }

  /** Call it after the deficit of the slot changed. */
  add(slot: number, isNew: boolean): void {
    const deficit = Math.min(LARGEST, this.posts.deficit[slot]!);
    if (deficit === 0) return;
    this.stacks[deficit]!.push(slot);
    this.entries += 1;
    if (this.entries > 4 * this.posts.size + 1_000) this.rebuild();
    if (isNew) this.order.push({ slot, id: this.posts.ids[slot]! });
  }

  /** Sets the slots that gaps wait for, in the order in which they are to be read. */
  setOwed(slots: readonly number[]): void {
    this.owed = slots.toReversed();
  }

  take(now: number): number | undefined {
    this.release(now);
    this.taken += 1;
    if (this.taken % OLDEST_EVERY === 0) return this.takeOldest(now) ?? this.takeLargest(now);
    return (this.taken % OWED_EVERY === 1 ? this.takeOwed(now) : undefined) ?? this.takeLargest(now);
  }

  /** How many wait for a time, not for their turn. */
  get restingCount(): number {
    return this.resting.length;
  }

  /** The slot, which was taken and still has a deficit, is not read before `until`. */
  rest(slot: number, until: number): void {
    this.posts.restsUntil[slot] = until;
    this.resting.push({ slot, id: this.posts.ids[slot]! });
    this.releaseAt = Math.min(this.releaseAt, until);
  }

  private release(now: number): void {
    if (now < this.releaseAt) return;
    this.releaseAt = Number.POSITIVE_INFINITY;
    const { restsUntil, ids } = this.posts;
    this.resting = this.resting.filter(({ slot, id }) => {
      if (ids[slot] !== id) return false;
      if (restsUntil[slot]! <= now) this.add(slot, true);
      else this.releaseAt = Math.min(this.releaseAt, restsUntil[slot]!);
      return restsUntil[slot]! > now;
    });
  }

  /**
   * The slot was not read for want of budget; it has to be added again. Its turn is repeated: where every second
   * attempt fails, one kind would never be read otherwise.
   */
  failed(slot: number): void {
    this.taken -= 1;
    if (this.owedTaken.delete(slot)) this.owed.unshift(slot);
  }

  /** The slot was read. */
  done(slot: number): void {
    this.owedTaken.delete(slot);
  }

  private takeOwed(now: number): number | undefined {
    for (let slot = this.owed.pop(); slot !== undefined; slot = this.owed.pop()) {
      if (!this.isOpen(slot, now)) continue;
      this.owedTaken.add(slot);
      return slot;
    }
    return undefined;
  }

  private takeOldest(now: number): number | undefined {
    while (this.oldest < this.order.length) {
      const { slot, id } = this.order[this.oldest]!;
      this.oldest += 1;
      this.compact();
      if (this.posts.ids[slot] === id && this.isOpen(slot, now)) return slot;
    }
    return undefined;
  }

  private takeLargest(now: number): number | undefined {
    for (let deficit = LARGEST; deficit > 0; deficit--) {
      const stack = this.stacks[deficit]!;
      while (stack.length > 0) {
        const slot = stack.pop()!;
        this.entries -= 1;
        if (this.isOpen(slot, now) && Math.min(LARGEST, this.posts.deficit[slot]!) === deficit) return slot;
      }
    }
    return undefined;
  }

  /** Drops the slots that have another deficit by now: while larger ones wait, nothing else would. */
  private rebuild(): void {
    this.entries = 0;
    for (const [deficit, stack] of this.stacks.entries()) {
      const kept = new Set(
        stack.filter((slot) => this.posts.isUsed(slot) && Math.min(LARGEST, this.posts.deficit[slot]!) === deficit),
      );
      this.stacks[deficit] = [...kept];
      this.entries += kept.size;
    }
  }

  private isOpen(slot: number, now: number): boolean {
    const { posts } = this;
    const isWaiting = posts.deficit[slot]! > 0 && posts.reading[slot] === 0;
    return posts.isUsed(slot) && isWaiting && posts.restsUntil[slot]! <= now;
  }

  private compact(): void {
    if (this.oldest < 1_000 || this.oldest * 2 < this.order.length) return;
    this.order = this.order.slice(this.oldest);
    this.oldest = 0;
  }
}
