import type { IntHeap } from './int-list.ts';
import { IntList } from './int-list.ts';
import { TEXTS } from '../rule.ts';

/**
 * A term is the address of these three integers. They are part of a record that the search reads anyway: the record of
 * a word, of a trie node or of the term itself.
 */
const POSTINGS = 0;
const FOUND = 1;
const REFERENCES = 2;
export const TERM_SIZE = 3;

/** The list of the monitors that watch for the term (monitor-postings.ts); for a stem, see prefix-terms.ts. */
export function postings(heap: IntHeap, term: number): number {
  return heap.get(term + POSTINGS);
}

export function setPostings(heap: IntHeap, term: number, list: number): void {
  heap.set(term + POSTINGS, list);
}

export function isReferenced(heap: IntHeap, term: number): boolean {
  return heap.get(term + REFERENCES) !== 0;
}

export function changeReferences(heap: IntHeap, term: number, change: 1 | -1): number {
  const references = heap.get(term + REFERENCES) + change;
  heap.set(term + REFERENCES, references);
  return references;
}

/** For 4,096 values of a term's hash: it answers most queries for terms that were not found, from the cache. */
const FILTER_BITS = 12;

function filterBit(term: number): number {
  return Math.imul(term, 0x9e3779b1) >>> (32 - FILTER_BITS);
}

/** What FoundTerms needs to know of one or two terms: their filter bits and, above these, how many they are. */
export function signatureOf(terms: readonly number[]): number {
  const [first = 0, second = first] = terms;
  return filterBit(first) | (filterBit(second) << FILTER_BITS) | (terms.length << (2 * FILTER_BITS));
}

export const countOf = (signature: number): number => signature >>> (2 * FILTER_BITS);

/**
 * The terms found in an item, each with its first occurrence in each of the item's texts. It is a sparse set (Briggs
 * and Torczon, 1993): each term's record has its index in the list, so that queries and additions take constant time,
 * and clearing takes none.
 */
export class FoundTerms {
  readonly #heap: IntHeap;
  readonly #filter = new Int32Array(1 << (FILTER_BITS - 5));
  readonly terms = new IntList();
  /** For each term, a bit for each text in which it was found. */
  readonly texts = new IntList();
  /** For each term and text, the UTF-16 code units [start, end) of the original text. */
  readonly #starts = new IntList();
  readonly #ends = new IntList();

  constructor(heap: IntHeap) {
    this.#heap = heap;
  }

  clear(): void {
    if (this.terms.length > 0) this.#filter.fill(0);
    this.terms.clear();
    this.texts.clear();
    this.#starts.clear();
    this.#ends.clear();
  }

  /** False only if none of the terms of the signature was found. */
  mayHaveAny(signature: number): boolean {
    const mask = (1 << FILTER_BITS) - 1;
    return this.#passesFilter(signature & mask) || this.#passesFilter((signature >>> FILTER_BITS) & mask);
  }

  /** Whether the term was found in one of these texts. @param texts a bit for each text */
  hasIn(term: number, texts: number): boolean {
    const index = this.indexOf(term);
    return index >= 0 && ((this.texts.items[index] ?? 0) & texts) !== 0;
  }

  /** The term's index in the lists, or -1 if it was not found. */
  indexOf(term: number): number {
    if (!this.#passesFilter(filterBit(term))) return -1;
    const index = this.#heap.get(term + FOUND);
    return index < this.terms.length && this.terms.items[index] === term ? index : -1;
  }

  #passesFilter(bit: number): boolean {
    return (((this.#filter[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
  }

  /** A term that was already found in this text keeps its first occurrence there. @param text the number of the text */
  add(term: number, text: number, start: number, end: number): void {
    let index = this.indexOf(term);
    if (index < 0) {
      const bit = filterBit(term);
      this.#filter[bit >>> 5] = (this.#filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
      index = this.terms.length;
      this.#heap.set(term + FOUND, index);
      this.terms.push(term);
      this.texts.push(0);
      this.#starts.extend(TEXTS.length);
      this.#ends.extend(TEXTS.length);
    }
    const texts = this.texts.items[index] ?? 0;
    if ((texts & (1 << text)) !== 0) return;
    this.texts.items[index] = texts | (1 << text);
    this.#starts.items[TEXTS.length * index + text] = start;
    this.#ends.items[TEXTS.length * index + text] = end;
  }

  /** The first occurrence of the term at this index in this text, in which it was found. */
  position(index: number, text: number): { start: number; end: number } {
    const slot = TEXTS.length * index + text;
    return { start: this.#starts.items[slot] ?? 0, end: this.#ends.items[slot] ?? 0 };
  }
}
