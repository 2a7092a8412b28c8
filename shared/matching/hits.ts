import type { IntHeap } from './int-heap.ts';
import { IntList } from './int-list.ts';

/**
 * The monitors that watch a term of the item, and by which of their keywords. A monitor's record says where in the list it would be
 * (a sparse set, as in FoundTerms); its hits are a list linked through `nexts`, the last one first.
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

  /** @param found the term's number among those found */
  add(record: number, posting: number, found: number): void {
    const { records } = this;
    const place = this.#heap.get(record + this.#offset);
    const isThere = place < records.length && records.items[place] === record;
    this.#nexts.push(isThere ? (this.#lastHits.items[place] ?? -1) : -1);
    if (isThere) this.#lastHits.items[place] = this.#postings.length;
    else {
      this.#heap.set(record + this.#offset, records.length);
      records.push(record);
      this.#lastHits.push(this.#postings.length);
    }
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
