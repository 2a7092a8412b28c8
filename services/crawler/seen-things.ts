/**
 * The ids seen lately, bounded: the oldest half is forgotten when it is full, so it holds at least `capacity` / 2 and
 * at most `capacity` ids. An id enters only after the broker's acknowledgement; forgetting one costs a duplicate, never
 * a loss.
 */
export class SeenThings {
  private readonly half: number;
  private recent = new Set<string>();
  private older = new Set<string>();

  constructor(capacity: number) {
    this.half = Math.max(1, Math.floor(capacity / 2));
  }

  has(name: string): boolean {
    return this.recent.has(name) || this.older.has(name);
  }

  add(name: string): void {
    if (this.has(name)) return;
    if (this.recent.size >= this.half) {
      this.older = this.recent;
      this.recent = new Set();
    }
    this.recent.add(name);
  }

  /** The latest `count` names at most, oldest first. */
  newest(count: number): string[] {
    return [...this.older, ...this.recent].slice(-count);
  }

  get size(): number {
    return this.older.size + this.recent.size;
  }
}
