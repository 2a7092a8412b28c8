import type { IntHeap } from '../tables/int-heap.ts';
import { IntList } from '../tables/int-list.ts';

/**
 * A term is the address of these three, which are a part of what a text comes by: the record of a word, of a node or
 * its own.
 */
const POSTINGS = 0;
const FOUND = 1;
const HOLDS = 2;
export const TERM_SIZE = 3;

/** The first of those that watch for the term, or 0. */
export function postings(heap: IntHeap, term: number): number {
  return heap.get(term + POSTINGS);
}

export function setPostings(heap: IntHeap, term: number, first: number): void {
  heap.set(term + POSTINGS, first);
}

/** Whether any rule holds the term. */
export function isHeld(heap: IntHeap, term: number): boolean {
  return heap.get(term + HOLDS) !== 0;
}

/** Counts how many rules hold the term; returns how many do now. */
export function changeHolds(heap: IntHeap, term: number, change: 1 | -1): number {
  const holds = heap.get(term + HOLDS) + change;
  heap.set(term + HOLDS, holds);
  return holds;
}

/**
 * One bit for each of 4,096 values of a term's hash: most questions after terms that were not found end here, in the
 * cache.
 */
const FILTER_BITS = 12;

function filterBit(term: number): number {
  return Math.imul(term, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

/**
 * The terms found in an item, each with its first occurrence. A sparse set (Briggs and Torczon, 1993): each term's
 * record says where in the list it would be, so that asking and adding take constant time and emptying takes none.
 */
export class FoundTerms {
  readonly #heap: IntHeap;
  readonly #filter = new Int32Array(1 << (FILTER_BITS - 5));
  readonly terms = new IntList();
  /** Which of the item's texts, 0 or 1, and UTF-16 code units [start, end) of it as it was written. */
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

  /** Where in the lists the term is; -1: it was not found. */
  indexOf(term: number): number {
    const bit = filterBit(term);
    if ((((this.#filter[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 0) return -1;
    const index = this.#heap.get(term + FOUND);
    return index < this.terms.length && this.terms.items[index] === term ? index : -1;
  }

  /** A term that is there already keeps its first occurrence. */
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
