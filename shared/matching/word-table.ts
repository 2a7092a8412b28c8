import { AddressTable } from './address-table.ts';
import { IN_PAGE } from './int-heap.ts';
import type { IntHeap } from './int-heap.ts';

/** A word's record: its length and roles, then these, then its code units, two in each integer. */
const META = 0;
const USES = 1;
const TERM = 2;
const PHRASES = 3;
const UNITS = 4;

const LENGTH_MASK = 0xffffff;
/** In code units: the records of longer words may lie in several pages of the heap. */
const LONGEST_IN_PAGE = 1000;

/** Roles: what the word takes part in, so that texts full of other words pass by. A part in sequences stays as long as the word. */
export const IN_EXACT_SEQUENCE = 1 << 24;
export const IN_LOOSE_SEQUENCE = 1 << 25;
/** One letter, with its marks. */
export const IS_LETTER = 1 << 26;
/** It is a term by itself. */
export const IS_TERM = 1 << 27;
/** Phrases begin with it. */
export const BEGINS_PHRASES = 1 << 28;

const ONE_LETTER = /^\p{L}\p{M}*$/u;

/** Every word of every term, once. A word is the address of its record; 0 is a word that no term has. */
export class WordTable {
  readonly #heap: IntHeap;
  readonly #table = new AddressTable();
  /** The roles of the word that `find` found last, which it has at hand. */
  foundRoles = 0;

  constructor(heap: IntHeap) {
    this.#heap = heap;
  }

  get bytes(): number {
    return this.#table.bytes;
  }

  /** The word units[start, end), whose hash is given; 0: no term has it. */
  find(hash: number, units: Uint16Array, start: number, end: number): number {
    let word = this.#table.first(hash);
    while (word !== 0 && !this.#equals(word, units, start, end)) word = this.#table.next(hash);
    return word;
  }

  /** Like `find`, but makes the word when there is none. */
  findOrAdd(hash: number, units: Uint16Array, start: number, end: number): number {
    const found = this.find(hash, units, start, end);
    if (found !== 0) return found;
    const heap = this.#heap;
    const length = end - start;
    const word = heap.allocate(UNITS + Math.ceil(length / 2));
    const text = String.fromCharCode(...units.subarray(start, Math.min(end, start + 100)));
    heap.set(word + META, length | (length <= 100 && ONE_LETTER.test(text) ? IS_LETTER : 0));
    for (let offset = 0; offset < length; offset += 2)
      heap.set(word + UNITS + offset / 2, pair(units, start + offset, end));
    this.#table.add(hash, word);
    return word;
  }

  /** Forgets the word when nothing uses it any more. */
  removeUnused(hash: number, word: number): void {
    const heap = this.#heap;
    if (heap.get(word + USES) !== 0 || heap.get(word + TERM) !== 0 || heap.get(word + PHRASES) !== 0) return;
    this.#table.remove(hash, word);
    heap.free(word, UNITS + Math.ceil((heap.get(word + META) & LENGTH_MASK) / 2));
  }

  /** All roles together. */
  roles(word: number): number {
    return this.#heap.get(word + META) & ~LENGTH_MASK;
  }

  addRole(word: number, role: number): void {
    this.#setRole(word, role, true);
  }

  /** The term that is this word alone, or 0. */
  term(word: number): number {
    return this.#heap.get(word + TERM);
  }

  setTerm(word: number, term: number): void {
    this.#heap.set(word + TERM, term);
    this.#setRole(word, IS_TERM, term !== 0);
  }

  /** The node at which the phrases begin that have this word first, or 0. */
  phrases(word: number): number {
    return this.#heap.get(word + PHRASES);
  }

  setPhrases(word: number, node: number): void {
    this.#heap.set(word + PHRASES, node);
    this.#setRole(word, BEGINS_PHRASES, node !== 0);
  }

  /** Counts the nodes that have this word as their symbol. */
  addUses(word: number, change: 1 | -1): void {
    this.#heap.set(word + USES, this.#heap.get(word + USES) + change);
  }

  #setRole(word: number, role: number, has: boolean): void {
    const meta = this.#heap.get(word + META);
    this.#heap.set(word + META, has ? meta | role : meta & ~role);
  }

  #equals(word: number, units: Uint16Array, start: number, end: number): boolean {
    const page = this.#heap.pageOf(word);
    let place = word & IN_PAGE;
    const meta = page[place] ?? 0;
    if ((meta & LENGTH_MASK) !== end - start) return false;
    this.foundRoles = meta & ~LENGTH_MASK;
    if (end - start > LONGEST_IN_PAGE) return this.#equalsLong(word, units, start, end);
    place += UNITS;
    let at = start;
    for (; at + 1 < end; at += 2) {
      if (page[place++] !== ((units[at] ?? 0) | ((units[at + 1] ?? 0) << 16))) return false;
    }
    return at === end || page[place] === units[at];
  }

  #equalsLong(word: number, units: Uint16Array, start: number, end: number): boolean {
    let address = word + UNITS;
    for (let at = start; at < end; at += 2) if (this.#heap.get(address++) !== pair(units, at, end)) return false;
    return true;
  }
}

function pair(units: Uint16Array, at: number, end: number): number {
  return (units[at] ?? 0) | (at + 1 < end ? (units[at + 1] ?? 0) << 16 : 0);
}
