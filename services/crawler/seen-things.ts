/**
 * A bounded set of the latest ids. When it is full the oldest half is dropped, so it holds from `capacity` / 2 to
 * `capacity` ids. Ids are added only after the broker's acknowledgement. So a dropped id can cause a duplicate, but
 * never a loss.
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
