import { IntList } from './int-list.ts';

/** An entry: a monitor and, in the lower bits, the texts in which the term counts for it. Never negative. */
export const TEXT_BITS = 3;
export const monitorOf = (entry: number): number => entry >>> TEXT_BITS;

/**
 * The monitors that watch for a term of the item, each with the keywords that were found. A monitor's row has its
 * index in the list (a sparse set, as in FoundTerms). Its hits are a linked list through `nexts`, the last one first.
 */
export class Hits {
  readonly #rows: { readonly items: Int32Array };
  readonly #rowSize: number;
  readonly monitors = new IntList();
  readonly #lastHits = new IntList();
  readonly #places = new IntList();
  readonly #terms = new IntList();
  readonly #nexts = new IntList();

  /** @param rows of all monitors by their numbers; the first integer of each is written here */
  constructor(rows: { readonly items: Int32Array }, rowSize: number) {
    this.#rows = rows;
    this.#rowSize = rowSize;
  }

  clear(): void {
    for (const list of [this.monitors, this.#lastHits, this.#places, this.#terms, this.#nexts]) list.clear();
  }

  /** Adds the monitors of the entries page[start, start + count) that count in one of these texts, if they are new. */
  touchAll(page: Int32Array, start: number, count: number, texts: number): void {
    const { monitors } = this;
    monitors.reserve(monitors.length + count);
    const { items } = monitors;
    const rows = this.#rows.items;
    const size = this.#rowSize;
    let { length } = monitors;
    for (let offset = start; offset < start + count; offset++) {
      const entry = page[offset] ?? 0;
      if ((entry & texts) === 0) continue;
      const monitor = monitorOf(entry);
      const index = rows[monitor * size] ?? 0;
      if (index < length && items[index] === monitor) continue;
      rows[monitor * size] = length;
      items[length++] = monitor;
    }
    monitors.length = length;
  }

  /**
   * Adds the monitor of the entry if the term counts for it in one of these texts.
   *
   * @param found the term's index in FoundTerms, which is added as well, or -1
   * @param place of the entry
   */
  addOne(entry: number, texts: number, found: number, place: number): void {
    if ((entry & texts) === 0) return;
    const monitor = monitorOf(entry);
    const index = this.#touch(monitor);
    if (found < 0) return;
    if (index === this.#lastHits.length) this.#lastHits.push(-1);
    this.#nexts.push(this.#lastHits.items[index] ?? -1);
    this.#lastHits.items[index] = this.#places.length;
    this.#places.push(place);
    this.#terms.push(found);
  }

  #touch(monitor: number): number {
    const { monitors } = this;
    const rows = this.#rows.items;
    const index = rows[monitor * this.#rowSize] ?? 0;
    if (index < monitors.length && monitors.items[index] === monitor) return index;
    rows[monitor * this.#rowSize] = monitors.length;
    monitors.push(monitor);
    return monitors.length - 1;
  }

  /** The hits of the monitor at this index of `monitors`, the last one first. */
  of(index: number): { place: number; found: number }[] {
    const hits: { place: number; found: number }[] = [];
    for (let hit = this.#lastHits.items[index] ?? -1; hit >= 0; hit = this.#nexts.items[hit] ?? -1) {
      hits.push({ place: this.#places.items[hit] ?? 0, found: this.#terms.items[hit] ?? 0 });
    }
    return hits;
  }
}
