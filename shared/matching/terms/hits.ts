import type { IntHeap } from '../tables/int-heap.ts';
import { IntList } from '../tables/int-list.ts';

/**
 * The monitors that watch for a term of the item, each with the keywords that were found. A monitor's record has its
 * index in the list (a sparse set, as in FoundTerms). Its hits are a linked list through `nexts`, the last one first.
 */
export class Hits {
  readonly #heap: IntHeap;
  /** The offset, within a monitor's record, of its index in `records`. */
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

  /** Adds the monitor if it is new; returns its index in `records`. */
  touch(record: number): number {
    const { records } = this;
    const index = this.#heap.get(record + this.#offset);
    if (index < records.length && records.items[index] === record) return index;
    this.#heap.set(record + this.#offset, records.length);
    this.#lastHits.push(-1);
    records.push(record);
    return records.length - 1;
  }

  /** Adds the monitor and the keyword by which it was found. @param found the term's index in FoundTerms */
  add(record: number, posting: number, found: number): void {
    const index = this.touch(record);
    this.#nexts.push(this.#lastHits.items[index] ?? -1);
    this.#lastHits.items[index] = this.#postings.length;
    this.#postings.push(posting);
    this.#terms.push(found);
  }

  /** The hits of the monitor at this index of `records`, in the order of its keywords. */
  of(index: number): { posting: number; found: number }[] {
    const hits: { posting: number; found: number }[] = [];
    for (let hit = this.#lastHits.items[index] ?? -1; hit >= 0; hit = this.#nexts.items[hit] ?? -1) {
      hits.push({ posting: this.#postings.items[hit] ?? 0, found: this.#terms.items[hit] ?? 0 });
    }
    return hits.sort((one, other) => one.posting - other.posting);
  }
}
