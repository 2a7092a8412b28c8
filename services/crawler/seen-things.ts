import { NumberSet } from '../../shared/cache/number-tables.ts';

/** Kind and id, as the forum writes them: up to ten digits to base 36, the first of which is not 0. */
const USUAL_NAME = /^t[13]_(?:0|[1-9a-z][0-9a-z]{0,9})$/;
/** Of other names, such as bare ids: they are strings on the heap. */
const MOST_UNUSUAL = 1_000;

/**
 * A bounded set of the latest fullnames. When it is full the oldest half is dropped, so it holds from `capacity` / 2 to
 * `capacity` names. Names are added only after the broker's acknowledgement. So a dropped name can cause a duplicate,
 * but never a loss. It takes 18 to 36 bytes for each name of its capacity, outside of the collected heap.
 */
export class SeenThings {
  private readonly half: number;
  private recent: Generation;
  private older: Generation;

  constructor(capacity: number) {
    this.half = Math.max(1, Math.floor(capacity / 2));
    this.recent = new Generation(this.half);
    this.older = new Generation(this.half);
  }

  has(name: string): boolean {
    const key = keyOf(name);
    return this.recent.has(name, key) || this.older.has(name, key);
  }

  add(name: string): void {
    const key = keyOf(name);
    if (this.recent.has(name, key) || this.older.has(name, key)) return;
    if (this.recent.isFull) {
      [this.recent, this.older] = [this.older, this.recent];
      this.recent.clear();
    }
    this.recent.add(name, key);
  }

  get size(): number {
    return this.older.size + this.recent.size;
  }
}

/** Names that were added one after the other. */
class Generation {
  private readonly usual: NumberSet;
  private readonly unusual = new Set<string>();
  private readonly most: number;

  constructor(most: number) {
    this.most = most;
    this.usual = new NumberSet(most);
  }

  get size(): number {
    return this.usual.size + this.unusual.size;
  }

  get isFull(): boolean {
    return this.size >= this.most || this.unusual.size >= MOST_UNUSUAL;
  }

  has(name: string, key: number | undefined): boolean {
    return key === undefined ? this.unusual.has(name) : this.usual.has(key);
  }

  add(name: string, key: number | undefined): void {
    if (key === undefined) this.unusual.add(name);
    else this.usual.add(key);
  }

  clear(): void {
    this.usual.clear();
    this.unusual.clear();
  }
}

/** A number from 1 to 2^53 - 1 that no other name has; undefined for a name that is not as usual. */
function keyOf(name: string): number | undefined {
  if (!USUAL_NAME.test(name)) return undefined;
  return 2 * parseInt(name.slice(3), 36) + (name.startsWith('t1') ? 1 : 2);
}
