import { AddressTable } from './address-table.ts';
import { TERM_SIZE } from '../terms/found-terms.ts';
import { IN_PAGE } from './int-heap.ts';
import type { IntHeap } from './int-heap.ts';

/**
 * A word's record: its length and roles, its uses, the term that is this word alone, all of which texts go to together,
 * then its code units, two in each integer, or four when all are below 256.
 */
const META = 0;
const USES = 1;
const TERM = 2;
const UNITS = TERM + TERM_SIZE;

const LENGTH_MASK = 0xffffff;
/** In code units: the records of longer words may lie in several pages of the heap. */
const LONGEST_IN_PAGE = 1000;

/**
 * Roles: what the word takes part in, so that texts full of other words pass by. That of a term goes with the term, the
 * others stay as long as the word.
 */
export const IN_EXACT_SEQUENCE = 1 << 24;
export const IN_LOOSE_SEQUENCE = 1 << 25;
/** One letter, with its marks. */
export const IS_LETTER = 1 << 26;
/** It is a term by itself. */
export const IS_TERM = 1 << 27;
/** Phrases begin with it. */
export const BEGINS_PHRASES = 1 << 28;
/** No role: its code units are all below 256. */
const IS_NARROW = 1 << 29;

/** In code units, marks included. */
const LONGEST_LETTER = 100;
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

  /** Makes the word, which `find` must not know. */
  add(hash: number, units: Uint16Array, start: number, end: number): number {
    const heap = this.#heap;
    const length = end - start;
    const narrow = isNarrow(units, start, end) ? IS_NARROW : 0;
    const word = heap.allocate(sizeOf(length | narrow));
    heap.set(word + META, length | narrow | (isLetter(units, start, end) ? IS_LETTER : 0));
    const step = narrow === 0 ? 2 : 4;
    let address = word + UNITS;
    for (let at = start; at < end; at += step) heap.set(address++, pack(units, at, end, step));
    this.#table.add(hash, word);
    return word;
  }

  /** Forgets the word when nothing uses it any more. */
  removeUnused(hash: number, word: number): void {
    const heap = this.#heap;
    if (heap.get(word + USES) !== 0 || (heap.get(word + META) & IS_TERM) !== 0) return;
    this.#table.remove(hash, word);
    heap.free(word, sizeOf(heap.get(word + META)));
  }

  /** All roles together. */
  roles(word: number): number {
    return this.#heap.get(word + META) & ~LENGTH_MASK;
  }

  addRole(word: number, role: number): void {
    this.#heap.set(word + META, this.#heap.get(word + META) | role);
  }

  /** The term that is this word alone, if the word has the role. */
  term(word: number): number {
    return word + TERM;
  }

  /** To be called when nobody holds the term any more. */
  removeTerm(word: number): void {
    this.#heap.set(word + META, this.#heap.get(word + META) & ~IS_TERM);
  }

  /** Counts the nodes that have this word as their symbol or their parent. */
  addUses(word: number, change: 1 | -1): void {
    this.#heap.set(word + USES, this.#heap.get(word + USES) + change);
  }

  #equals(word: number, units: Uint16Array, start: number, end: number): boolean {
    const page = this.#heap.pageOf(word);
    let place = word & IN_PAGE;
    const meta = page[place] ?? 0;
    if ((meta & LENGTH_MASK) !== end - start) return false;
    this.foundRoles = meta & ~LENGTH_MASK;
    if (end - start > LONGEST_IN_PAGE) return this.#equalsLong(word, units, start, end);
    place += UNITS;
    return (meta & IS_NARROW) === 0
      ? equalsWide(page, place, units, start, end)
      : equalsNarrow(page, place, units, start, end);
  }

  #equalsLong(word: number, units: Uint16Array, start: number, end: number): boolean {
    const step = (this.#heap.get(word + META) & IS_NARROW) === 0 ? 2 : 4;
    let address = word + UNITS;
    for (let at = start; at < end; at += step)
      if (this.#heap.get(address++) !== pack(units, at, end, step)) return false;
    return step === 2 || isNarrow(units, start, end);
  }
}

/** The integers of the record of a word with this META. */
function sizeOf(meta: number): number {
  return UNITS + Math.ceil((meta & LENGTH_MASK) / ((meta & IS_NARROW) === 0 ? 2 : 4));
}

/** Whether the word is one letter, with its marks. */
function isLetter(units: Uint16Array, start: number, end: number): boolean {
  // Neither marks nor the second halves of pairs lie below.
  if (end - start > LONGEST_LETTER || (end - start > 1 && (units[start + 1] ?? 0) < 0x300)) return false;
  return ONE_LETTER.test(String.fromCharCode(...units.subarray(start, end)));
}

function isNarrow(units: Uint16Array, start: number, end: number): boolean {
  let all = 0;
  for (let at = start; at < end; at++) all |= units[at] ?? 0;
  return all < 0x100;
}

function equalsWide(page: Int32Array, place: number, units: Uint16Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 2) if (page[place++] !== pack(units, at, end, 2)) return false;
  return true;
}

function equalsNarrow(page: Int32Array, place: number, units: Uint16Array, start: number, end: number): boolean {
  let all = 0;
  let at = start;
  for (; at + 3 < end; at += 4) {
    const first = units[at] ?? 0;
    const second = units[at + 1] ?? 0;
    const third = units[at + 2] ?? 0;
    const fourth = units[at + 3] ?? 0;
    all |= first | second | third | fourth;
    if (page[place++] !== (first | (second << 8) | (third << 16) | (fourth << 24))) return false;
  }
  for (let shift = 0; at < end; at++, shift += 8) {
    const unit = units[at] ?? 0;
    all |= unit;
    if ((((page[place] ?? 0) >>> shift) & 0xff) !== unit) return false;
  }
  // Only the lower halves were compared.
  return all < 0x100;
}

/** Four code units of eight bits or two of sixteen, from `at` on; what lies behind the end is 0. */
function pack(units: Uint16Array, at: number, end: number, count: 2 | 4): number {
  let packed = units[at] ?? 0;
  if (count === 2) return at + 1 < end ? packed | ((units[at + 1] ?? 0) << 16) : packed;
  if (at + 1 < end) packed |= (units[at + 1] ?? 0) << 8;
  if (at + 2 < end) packed |= (units[at + 2] ?? 0) << 16;
  if (at + 3 < end) packed |= (units[at + 3] ?? 0) << 24;
  return packed;
}
