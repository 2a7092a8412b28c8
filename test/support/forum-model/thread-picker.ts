import type { Random } from './random.ts';

/** A community remembers the entries of this many hours at its average rate. */
const WINDOW_HOURS = 6;
const MIN_ENTRIES = 8;
/** The exponent of the Pareto distribution of a post's attraction, and its bound. */
const ATTRACTION_EXPONENT = 1.15;
const MAX_ATTRACTION = 3_000;

/**
 * Chooses the thread of a new comment. Each community has a ring of recent entries: a post enters as many times as it
 * attracts, a comment enters once with its post, and a new comment takes the post of a random entry. So busy threads
 * grow (Yule's and Simon's process), sizes are heavy-tailed, and a thread ends when newer entries displace its own.
 */
export class ThreadPicker {
  private readonly random: Random;
  private readonly entries: Int32Array;
  private readonly first: Uint32Array;
  private readonly capacity: Uint32Array;
  private readonly written: Uint32Array;

  /** @param itemsPerHour of each community */
  constructor(itemsPerHour: ArrayLike<number>, random: Random) {
    this.random = random;
    this.capacity = Uint32Array.from(itemsPerHour, (rate) => Math.max(MIN_ENTRIES, rate * WINDOW_HOURS * 1.5));
    this.first = new Uint32Array(itemsPerHour.length);
    this.written = new Uint32Array(itemsPerHour.length);
    let total = 0;
    for (const [community, capacity] of this.capacity.entries()) {
      this.first[community] = total;
      total += capacity;
    }
    this.entries = new Int32Array(total);
  }

  /** The post of a random entry. The community must have a post. */
  pick(community: number): number {
    const size = Math.min(this.written[community]!, this.capacity[community]!);
    return this.entries[this.first[community]! + this.random.below(size)]!;
  }

  addPost(community: number, post: number): void {
    const pareto = (1 - this.random.next()) ** (-1 / ATTRACTION_EXPONENT);
    const limit = Math.min(MAX_ATTRACTION, this.capacity[community]! / 3);
    for (let entries = 0; entries === 0 || entries + 1 <= Math.min(pareto, limit); entries++) this.add(community, post);
  }

  addComment(community: number, post: number): void {
    this.add(community, post);
  }

  private add(community: number, post: number): void {
    const at = this.written[community]!++ % this.capacity[community]!;
    this.entries[this.first[community]! + at] = post;
  }
}
