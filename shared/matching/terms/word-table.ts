import { AddressTable } from './address-table.ts';
import { TERM_SIZE } from './found-terms.ts';
import { PAGE_MASK } from './int-list.ts';
import type { IntHeap } from './int-list.ts';

/**
 * A word's record: its length and roles, its uses, the term that is this word alone (a search reads all of these
 * together), and its code units: two in each integer, or four if all are below 256.
 */
const META = 0;
const USES = 1;
const TERM = 2;
const UNITS = TERM + TERM_SIZE;

const LENGTH_MASK = 0xffffff;
/** In code units. The records of longer words may span several pages of the heap. */
const MAX_LENGTH_IN_PAGE = 1000;

/**
 * Roles say which kinds of terms the word is part of, so that the search skips all other words. IS_TERM is removed with
 * the term, the other roles stay as long as the word.
 */
export const IN_EXACT_SEQUENCE = 1 << 24;
export const IN_LOOSE_SEQUENCE = 1 << 25;
export const IS_LETTER = 1 << 26;
export const IS_TERM = 1 << 27;
export const BEGINS_PHRASES = 1 << 28;
/** The word is part of a term whose letters are compared as written. */
export const IN_CASED_TERM = 1 << 30;
/** A text with this word is searched for terms whose letters are compared as written. */
export const KEY_OF_CASED_TERM = 1 << 31;
/** Not a role: all code units of the word are below 256. */
const IS_NARROW = 1 << 29;

/** In code units, including marks. */
const MAX_LETTER_LENGTH = 100;
const ONE_LETTER = /^\p{L}\p{M}*$/u;

/** Every word of every term, once. A word is the address of its record. 0 stands for a word that no term has. */
export class WordTable {
  readonly #heap: IntHeap;
  readonly #table = new AddressTable();
  /** The roles of the word that `find` found last. It has read them anyway. */
  foundRoles = 0;

  constructor(heap: IntHeap) {
    this.#heap = heap;
  }

  /** The word units[start, end) with this hash, or 0 if no term has it. */
  find(hash: number, units: Uint16Array, start: number, end: number): number {
    let word = this.#table.first(hash);
    while (word !== 0 && !this.#equals(word, units, start, end)) word = this.#table.next(hash);
    return word;
  }

  /** Adds the word. `find` must not know it yet. */
  add(hash: number, units: Uint16Array, start: number, end: number): number {
    const heap = this.#heap;
    const length = end - start;
    const narrow = isNarrow(units, start, end) ? IS_NARROW : 0;
    const word = heap.allocate(sizeOf(length | narrow));
    heap.set(word + META, length | narrow | (isLetter(units, start, end) ? IS_LETTER : 0));
    const step = narrow === 0 ? 2 : 4;
    let address = word + UNITS;
    for (let offset = start; offset < end; offset += step) heap.set(address++, pack(units, offset, end, step));
    this.#table.add(hash, word);
    return word;
  }

  /** Removes the word if nothing uses it any more; returns whether it did. */
  removeUnused(hash: number, word: number): boolean {
    const heap = this.#heap;
    if (heap.get(word + USES) !== 0 || (heap.get(word + META) & IS_TERM) !== 0) return false;
    this.#table.remove(hash, word);
    heap.free(word, sizeOf(heap.get(word + META)));
    return true;
  }

  roles(word: number): number {
    return this.#heap.get(word + META) & ~LENGTH_MASK;
  }

  addRole(word: number, role: number): void {
    this.#heap.set(word + META, this.#heap.get(word + META) | role);
  }

  /** The term that is this word alone. Valid only if the word has the role IS_TERM. */
  term(word: number): number {
    return word + TERM;
  }

  /** Must be called when no rule references the term any more. */
  removeTerm(word: number): void {
    this.#heap.set(word + META, this.#heap.get(word + META) & ~IS_TERM);
  }

  /** Counts the nodes that have this word as their symbol or their parent. */
  addUses(word: number, change: 1 | -1): void {
    this.#heap.set(word + USES, this.#heap.get(word + USES) + change);
  }

  #equals(word: number, units: Uint16Array, start: number, end: number): boolean {
    const page = this.#heap.pageOf(word);
    let position = word & PAGE_MASK;
    const meta = page[position] ?? 0;
    if ((meta & LENGTH_MASK) !== end - start) return false;
    this.foundRoles = meta & ~LENGTH_MASK;
    if (end - start > MAX_LENGTH_IN_PAGE) return this.#equalsLong(word, units, start, end);
    position += UNITS;
    return (meta & IS_NARROW) === 0
      ? equalsWide(page, position, units, start, end)
      : equalsNarrow(page, position, units, start, end);
  }

  #equalsLong(word: number, units: Uint16Array, start: number, end: number): boolean {
    const step = (this.#heap.get(word + META) & IS_NARROW) === 0 ? 2 : 4;
    let address = word + UNITS;
    for (let offset = start; offset < end; offset += step)
      if (this.#heap.get(address++) !== pack(units, offset, end, step)) return false;
    return step === 2 || isNarrow(units, start, end);
  }
}

function sizeOf(meta: number): number {
  return UNITS + Math.ceil((meta & LENGTH_MASK) / ((meta & IS_NARROW) === 0 ? 2 : 4));
}

function isLetter(units: Uint16Array, start: number, end: number): boolean {
  // Marks and low surrogates are not below U+0300.
  if (end - start > MAX_LETTER_LENGTH || (end - start > 1 && (units[start + 1] ?? 0) < 0x300)) return false;
  return ONE_LETTER.test(String.fromCharCode(...units.subarray(start, end)));
}

function isNarrow(units: Uint16Array, start: number, end: number): boolean {
  let all = 0;
  for (let offset = start; offset < end; offset++) all |= units[offset] ?? 0;
  return all < 0x100;
}

function equalsWide(page: Int32Array, position: number, units: Uint16Array, start: number, end: number): boolean {
  for (let offset = start; offset < end; offset += 2)
    if (page[position++] !== pack(units, offset, end, 2)) return false;
  return true;
}

function equalsNarrow(page: Int32Array, position: number, units: Uint16Array, start: number, end: number): boolean {
  let all = 0;
  let offset = start;
  for (; offset + 3 < end; offset += 4) {
    const first = units[offset] ?? 0;
    const second = units[offset + 1] ?? 0;
    const third = units[offset + 2] ?? 0;
    const fourth = units[offset + 3] ?? 0;
    all |= first | second | third | fourth;
    if (page[position++] !== (first | (second << 8) | (third << 16) | (fourth << 24))) return false;
  }
  for (let shift = 0; offset < end; offset++, shift += 8) {
    const unit = units[offset] ?? 0;
    all |= unit;
    if ((((page[position] ?? 0) >>> shift) & 0xff) !== unit) return false;
  }
  // Only the lower bytes were compared.
  return all < 0x100;
}

/** Packs four code units of 8 bits or two of 16 bits, starting at `offset`. Units beyond `end` are 0. */
function pack(units: Uint16Array, offset: number, end: number, count: 2 | 4): number {
  let packed = units[offset] ?? 0;
  if (count === 2) return offset + 1 < end ? packed | ((units[offset + 1] ?? 0) << 16) : packed;
  if (offset + 1 < end) packed |= (units[offset + 1] ?? 0) << 8;
  if (offset + 2 < end) packed |= (units[offset + 2] ?? 0) << 16;
  if (offset + 3 < end) packed |= (units[offset + 3] ?? 0) << 24;
  return packed;
}
