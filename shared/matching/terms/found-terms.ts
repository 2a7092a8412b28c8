import type { IntHeap } from '../tables/int-heap.ts';
import { IntList } from '../tables/int-list.ts';

/**
 * A term is the address of these three integers. They are part of a record that the search reads anyway: the record of
 * a word, of a trie node or of the term itself.
 */
const POSTINGS = 0;
const FOUND = 1;
const REFERENCES = 2;
export const TERM_SIZE = 3;

/** The first posting of a monitor that watches for the term, or 0. */
export function postings(heap: IntHeap, term: number): number {
  return heap.get(term + POSTINGS);
}

export function setPostings(heap: IntHeap, term: number, first: number): void {
  heap.set(term + POSTINGS, first);
}

/** Whether any rule has the term. */
export function isReferenced(heap: IntHeap, term: number): boolean {
  return heap.get(term + REFERENCES) !== 0;
}

/** Changes the number of rules that have the term; returns the new number. */
export function changeReferences(heap: IntHeap, term: number, change: 1 | -1): number {
  const references = heap.get(term + REFERENCES) + change;
  heap.set(term + REFERENCES, references);
  return references;
}

/**
 * One bit for each of 4,096 values of a term's hash. It answers most queries for terms that were not found, from the
 * cache.
 */
const FILTER_BITS = 12;

function filterBit(term: number): number {
  return Math.imul(term, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

/**
 * The terms found in an item, each with its first occurrence. It is a sparse set (Briggs and Torczon, 1993): each
 * term's record has its index in the list, so that queries and additions take constant time, and clearing takes none.
 */
export class FoundTerms {
  readonly #heap: IntHeap;
  readonly #filter = new Int32Array(1 << (FILTER_BITS - 5));
  readonly terms = new IntList();
  /** The number of the item's text, 0 or 1, and the UTF-16 code units [start, end) of the original text. */
  readonly fields = new IntList();
  readonly starts = new IntList();
  readonly ends = new IntList();

  constructor(heap: IntHeap) {
    this.#heap = heap;
  }

  clear(): void {
    if (this.terms.length > 0) this.#filter.fill(0);
    this.terms.clear();
    this.fields.clear();
    this.starts.clear();
    this.ends.clear();
  }

  has(term: number): boolean {
    return this.indexOf(term) >= 0;
  }

  /** The term's index in the lists, or -1 if it was not found. */
  indexOf(term: number): number {
    const bit = filterBit(term);
    if ((((this.#filter[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0) return -1;
    const index = this.#heap.get(term + FOUND);
    return index < this.terms.length && this.terms.items[index] === term ? index : -1;
  }

  /** A term that was already found keeps its first occurrence. */
  add(term: number, field: number, start: number, end: number): void {
    if (this.has(term)) return;
    const bit = filterBit(term);
    this.#filter[bit >>> 5] = (this.#filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
    this.#heap.set(term + FOUND, this.terms.length);
    this.terms.push(term);
    this.fields.push(field);
    this.starts.push(start);
    this.ends.push(end);
  }
}
