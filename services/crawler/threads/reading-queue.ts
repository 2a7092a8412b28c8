import type { TrackedPosts } from './tracked-posts.ts';

const LARGEST = 255;
/** Every such reading is the one that waits longest, so that small deficits are read too. */
const OLDEST_EVERY = 4;

/** Posts whose thread should be read: the largest deficit first, among equal ones the latest. */
export class ReadingQueue {
  private readonly posts: TrackedPosts;
  /** Slots by deficit; a slot that has another deficit by now is skipped. */
  private readonly stacks: number[][] = Array.from({ length: LARGEST + 1 }, () => []);
  private order: { slot: number; id: string }[] = [];
  private oldest = 0;
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

  take(): number | undefined {
    this.taken += 1;
    const slot = (this.taken % OLDEST_EVERY === 0 ? this.takeOldest() : undefined) ?? this.takeLargest();
    return slot;
  }

  private takeOldest(): number | undefined {
    while (this.oldest < this.order.length) {
      const { slot, id } = this.order[this.oldest]!;
      this.oldest += 1;
      this.compact();
      if (this.posts.ids[slot] === id && this.isOpen(slot)) return slot;
    }
    return undefined;
  }

  private takeLargest(): number | undefined {
    for (let deficit = LARGEST; deficit > 0; deficit--) {
      const stack = this.stacks[deficit]!;
      while (stack.length > 0) {
        const slot = stack.pop()!;
        this.entries -= 1;
        if (this.isOpen(slot) && Math.min(LARGEST, this.posts.deficit[slot]!) === deficit) return slot;
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

  private isOpen(slot: number): boolean {
    return this.posts.isUsed(slot) && this.posts.deficit[slot]! > 0 && this.posts.reading[slot] === 0;
  }

  private compact(): void {
    if (this.oldest < 1_000 || this.oldest * 2 < this.order.length) return;
    this.order = this.order.slice(this.oldest);
    this.oldest = 0;
  }
}
