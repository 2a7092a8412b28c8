import type { IntHeap } from '../tables/int-heap.ts';
import { IntList } from '../tables/int-list.ts';

/**
 * The monitors that watch a term of the item, and by which of their keywords. A monitor's record says where in the list
 * it would be (a sparse set, as in FoundTerms); its hits are a list linked through `nexts`, the last one first.
 */
export class Hits {
  readonly #heap: IntHeap;
  /** Where in a record its place in `records` stands. */
  readonly #offset: number;
  readonly records = new IntList();
  readonly #lastHits = new IntList();
  readonly #postings = new IntList();
  readonly #terms = new IntList();
  readonly #nexts = new IntList();

  constructor(heap: IntHeap, offset: number) {
    this.#heap = heap;
    this.#offset = offset;
  }

  clear(): void {
    for (const list of [this.records, this.#lastHits, this.#postings, this.#terms, this.#nexts]) list.clear();
  }

  /** Adds the monitor; returns its place in `records`. */
  touch(record: number): number {
    const { records } = this;
    const place = this.#heap.get(record + this.#offset);
    if (place < records.length && records.items[place] === record) return place;
    this.#heap.set(record + this.#offset, records.length);
    this.#lastHits.push(-1);
    records.push(record);
    return records.length - 1;
  }

  /** Adds the monitor and the keyword by which it was found. @param found the term's number among those found */
  add(record: number, posting: number, found: number): void {
    const place = this.touch(record);
    this.#nexts.push(this.#lastHits.items[place] ?? -1);
    this.#lastHits.items[place] = this.#postings.length;
    this.#postings.push(posting);
    this.#terms.push(found);
  }

  /** The hits of the monitor at this place of `records`, in the order of its keywords. */
  of(place: number): { posting: number; found: number }[] {
    const hits: { posting: number; found: number }[] = [];
    for (let hit = this.#lastHits.items[place] ?? -1; hit >= 0; hit = this.#nexts.items[hit] ?? -1) {
      hits.push({ posting: this.#postings.items[hit] ?? 0, found: this.#terms.items[hit] ?? 0 });
    }
    return hits.sort((one, other) => one.posting - other.posting);
  }
}
