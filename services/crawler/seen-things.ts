/**
 * A bounded set of the latest fullnames. When it is full the older half is dropped, so it holds from `capacity` / 2 to
 * `capacity` names. Names are added only after the broker's acknowledgement. So a dropped name can cause a duplicate,
 * but never a loss. A name takes 75 bytes.
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

  get size(): number {
    return this.older.size + this.recent.size;
  }
}
