import { ALL_TEXTS, USUAL_TEXTS } from '../rule.ts';
import { IntList, PAGE_MASK } from './int-list.ts';
import type { IntHeap } from './int-list.ts';

/**
 * The entries of the monitors that watch for a term; the place of an entry is the address at which it is stored. A list
 * is one integer of another record: 0 if it is empty, the complement of the entry if there is only one, or the
 * address of its newest chunk. Only the newest chunk may have room, so a removed entry is replaced by the last one of
 * that chunk, and nothing else moves.
 *
 * Most keywords of most monitors are watched by one monitor alone: they take no memory here. Frequent terms are read
 * from consecutive memory, and what is read for one monitor does not depend on what was read for another.
 */
const NEXT = 0;
/** The number of entries, and above these bits the number for which there is room. */
const COUNT = 1;
const CHUNK = 2;
const COUNT_BITS = 16;
const COUNT_MASK = (1 << COUNT_BITS) - 1;
/** In integers. Each chunk is twice as large as the one before it. */
const SMALLEST_CHUNK = 4;
const LARGEST_CHUNK = 128;

/**
 * A term that also has conditional entries has the address of this record as its list: its list of the others, a mark,
 * and its list of the conditional ones. So the others pay nothing for them.
 */
const PLAIN = 0;
const MARK = 1;
const CONDITIONAL = 2;
const BOTH = 3;
const IS_BOTH = -1;

/** The found terms, and for each the texts in which it was found. */
type Found = Readonly<Record<'terms' | 'texts', IntList>>;

/** The lists of all terms. The first integer of a term is its list. */
export class MonitorPostings {
  readonly #heap: IntHeap;
  /** The chunks to read for an item, and for each the index of its term among the found ones. */
  readonly #chunks = new IntList();
  readonly #found = new IntList();
  readonly #moved: (monitor: number, from: number, to: number) => void;

  /** @param moved is told when an entry of another monitor gets another place */
  constructor(heap: IntHeap, moved: (monitor: number, from: number, to: number) => void) {
    this.#heap = heap;
    this.#moved = moved;
  }

  /** Adds a monitor; returns the place of its entry. @param texts a bit for each text in which the term counts */
  add(term: number, monitor: number, texts: number, isConditional: boolean): number {
    return this.#insert(this.#list(term, isConditional), (monitor << TEXT_BITS) | texts);
  }

  remove(term: number, place: number, isConditional: boolean): void {
    const heap = this.#heap;
    const list = this.#list(term, isConditional);
    const chunk = heap.get(list);
    if (chunk < 0) heap.set(list, 0);
    else {
      const count = heap.get(chunk + COUNT) - 1;
      heap.set(chunk + COUNT, count);
      const last = chunk + CHUNK + (count & COUNT_MASK);
      if (last !== place) this.#move(heap.get(last), last, place);
      if ((count & COUNT_MASK) === 0) {
        heap.set(list, heap.get(chunk + NEXT));
        heap.free(chunk, CHUNK + (count >>> COUNT_BITS));
      }
    }
    if (isConditional && heap.get(list) === 0) this.#join(term);
  }

  /** The texts in which the term counts for the monitor whose entry is at this place, a bit for each. */
  texts(place: number): number {
    const entry = this.#heap.get(place);
    return (entry < 0 ? ~entry : entry) & ALL_TEXTS;
  }

  /**
   * Adds the monitors for which the found terms count to the hits; returns the number of entries read.
   *
   * First it lists the chunks of all terms, each beside those of the other terms. So the processor waits for the next
   * chunks of many terms at once, and not for those of one after the other.
   *
   * @param withTerms whether the terms and the places of the entries are wanted as well
   */
  collect({ terms, texts }: Found, hits: Hits, withTerms: boolean): number {
    this.#chunks.clear();
    this.#found.clear();
    let entries = 0;
    const add = (list: number, found: number): void => {
      const first = this.#heap.get(list);
      if (first > 0) this.#addToRead(first, found);
      else if (first < 0) {
        hits.addOne(~first, texts.items[found] ?? 0, withTerms ? found : -1, list);
        entries++;
      }
    };
    for (let found = 0; found < terms.length; found++) {
      const term = terms.items[found] ?? 0;
      if (((texts.items[found] ?? 0) & USUAL_TEXTS) !== 0 || this.#hasBoth(term)) add(term, found);
    }
    this.#listChunks((both, found) => {
      add(both + CONDITIONAL, found);
      if (((texts.items[found] ?? 0) & USUAL_TEXTS) !== 0) add(both + PLAIN, found);
    });
    return entries + this.#readChunks(texts, hits, withTerms);
  }

  #addToRead(chunk: number, found: number): void {
    this.#chunks.push(chunk);
    this.#found.push(found);
  }

  #listChunks(split: (both: number, found: number) => void): void {
    for (let index = 0; index < this.#chunks.length; index++) {
      const chunk = this.#chunks.items[index] ?? 0;
      const found = this.#found.items[index] ?? 0;
      const page = this.#heap.pageOf(chunk);
      const start = chunk & PAGE_MASK;
      const next = page[start + NEXT] ?? 0;
      if (page[start + MARK] === IS_BOTH) {
        this.#chunks.items[index] = 0;
        split(chunk, found);
      } else if (next !== 0) this.#addToRead(next, found);
    }
  }

  #readChunks(texts: IntList, hits: Hits, withTerms: boolean): number {
    let entries = 0;
    for (let index = 0; index < this.#chunks.length; index++) {
      const chunk = this.#chunks.items[index] ?? 0;
      if (chunk === 0) continue;
      const found = this.#found.items[index] ?? 0;
      const inTexts = texts.items[found] ?? 0;
      const page = this.#heap.pageOf(chunk);
      const start = chunk & PAGE_MASK;
      const count = (page[start + COUNT] ?? 0) & COUNT_MASK;
      if (!withTerms) hits.touchAll(page, start + CHUNK, count, inTexts);
      else {
        for (let offset = CHUNK; offset < CHUNK + count; offset++) {
          hits.addOne(page[start + offset] ?? 0, inTexts, found, chunk + offset);
        }
      }
      entries += count;
    }
    return entries;
  }

  #hasBoth(term: number): boolean {
    const first = this.#heap.get(term);
    return first > 0 && this.#heap.get(first + MARK) === IS_BOTH;
  }

  /** The list of the term. One for conditional entries is created if there is none. */
  #list(term: number, isConditional: boolean): number {
    const heap = this.#heap;
    const hasBoth = this.#hasBoth(term);
    if (!isConditional) return hasBoth ? heap.get(term) + PLAIN : term;
    if (hasBoth) return heap.get(term) + CONDITIONAL;
    const both = heap.allocate(BOTH);
    this.#moveList(term, both + PLAIN);
    heap.set(both + MARK, IS_BOTH);
    heap.set(term, both);
    return both + CONDITIONAL;
  }

  /** Makes the list of the plain entries the only one again. */
  #join(term: number): void {
    const both = this.#heap.get(term);
    this.#moveList(both + PLAIN, term);
    this.#heap.free(both, BOTH);
  }

  #moveList(from: number, to: number): void {
    const first = this.#heap.get(from);
    this.#heap.set(to, first);
    if (first < 0) this.#moved(monitorOf(~first), from, to);
  }

  #insert(list: number, entry: number): number {
    const heap = this.#heap;
    const first = heap.get(list);
    if (first === 0) {
      heap.set(list, ~entry);
      return list;
    }
    let chunk = first;
    if (first < 0) {
      chunk = this.#addChunk(list, 0, SMALLEST_CHUNK);
      this.#move(~first, list, chunk + CHUNK);
      heap.set(chunk + COUNT, heap.get(chunk + COUNT) + 1);
    } else {
      const room = heap.get(chunk + COUNT) >>> COUNT_BITS;
      if ((heap.get(chunk + COUNT) & COUNT_MASK) === room)
        chunk = this.#addChunk(list, chunk, Math.min(LARGEST_CHUNK, 2 * (room + CHUNK)));
    }
    const count = heap.get(chunk + COUNT);
    heap.set(chunk + COUNT, count + 1);
    const place = chunk + CHUNK + (count & COUNT_MASK);
    heap.set(place, entry);
    return place;
  }

  #addChunk(list: number, next: number, size: number): number {
    const chunk = this.#heap.allocate(size);
    this.#heap.set(chunk + NEXT, next);
    this.#heap.set(chunk + COUNT, (size - CHUNK) << COUNT_BITS);
    this.#heap.set(list, chunk);
    return chunk;
  }

  #move(entry: number, from: number, to: number): void {
    this.#heap.set(to, entry);
    this.#moved(monitorOf(entry), from, to);
  }
}

/** An entry: a monitor and, in the lower bits, the texts in which the term counts for it. Never negative. */
const TEXT_BITS = 3;
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
