import { TERM_SIZE } from './found-terms.ts';
import type { IntHeap } from '../tables/int-heap.ts';
import { hasKind } from './term-shape.ts';
import { CHARACTER_TOKEN, SPACE_TOKEN, SYMBOL_TOKEN, WORD_TOKEN } from '../text/tokens.ts';
import { HYPHEN_SYMBOL, POSSESSIVE_SYMBOL } from '../text/text-reader.ts';
import type { TextReader } from '../text/text-reader.ts';

/** What the record of a term that is no plain phrase has besides. */
const FLAGS = TERM_SIZE;
const NEXT = TERM_SIZE + 1;
const HYPHENS = TERM_SIZE + 2;
const SIZE = TERM_SIZE + 3;

/** Begins with a symbol that a word or the same symbol before it makes another one (.NET in ASP.NET). */
const GUARDS_START = 1;

const EMOJI = /^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u;

function isGuarded({ tokens }: TextReader, at: number): boolean {
  if (tokens.kinds[at] !== SYMBOL_TOKEN) return false;
  return !EMOJI.test(String.fromCodePoint(tokens.values.items[at] ?? 0));
}

/** Whether a token of this kind may be part of a keyword of symbols alone, which match anywhere. */
export function isSymbolic(kind: number | undefined): boolean {
  return kind === SYMBOL_TOKEN || kind === SPACE_TOKEN;
}

/** Whether a term that has a word or a letter may end before the token at `end`, by the rules for what follows. */
export function mayEndAt(reader: TextReader, end: number): boolean {
  if (end >= reader.tokens.count) return true;
  const symbols = reader.symbols.items;
  if (symbols[end] === symbols[end - 1] && isGuarded(reader, end - 1)) return false;
  return !reader.isSignedLetter(end);
}

/** Symbols alone match anywhere; a keyword with letters in it looks at what stands beside its symbols. */
function flagsOf(reader: TextReader): number {
  if (!hasKind(reader.tokens, WORD_TOKEN) && !hasKind(reader.tokens, CHARACTER_TOKEN)) return 0;
  return isGuarded(reader, 0) ? GUARDS_START : 0;
}

/** The positions at which the keyword that was read has hyphens. */
function hyphensOf({ tokens, symbols }: TextReader): number[] {
  const hyphens: number[] = [];
  for (let at = 0; at < tokens.count; at++) if (symbols.items[at] === HYPHEN_SYMBOL) hyphens.push(at);
  return hyphens;
}

/**
 * The terms at the nodes of an automaton. Where hyphens and spaces are one symbol there can be several at a node, which
 * differ in where they ask for the very hyphen; they form a list.
 */
export class SequenceTerms {
  readonly #heap: IntHeap;
  /** Whether a space in a term may be a hyphen in the text. */
  readonly #isLoose: boolean;

  constructor(heap: IntHeap, isLoose: boolean) {
    this.#heap = heap;
    this.#isLoose = isLoose;
  }

  next(term: number): number {
    return this.#heap.get(term + NEXT);
  }

  /** The term of the list that begins with `first` which is the one that was read; 0: none. */
  find(first: number, reader: TextReader): number {
    let term = first;
    if (this.#isLoose) {
      const hyphens = hyphensOf(reader);
      while (term !== 0 && !this.#hasHyphens(term, hyphens)) term = this.next(term);
    }
    return term;
  }

  /** The term that was read, to be put before `next` into a node's list. */
  create(reader: TextReader, next: number): number {
    const heap = this.#heap;
    const term = heap.allocate(SIZE);
    heap.set(term + FLAGS, flagsOf(reader));
    heap.set(term + NEXT, next);
    const hyphens = this.#isLoose ? hyphensOf(reader) : [];
    if (hyphens.length > 0) {
      const block = heap.allocate(1 + hyphens.length);
      heap.set(block, hyphens.length);
      hyphens.forEach((at, index) => {
        heap.set(block + 1 + index, at);
      });
      heap.set(term + HYPHENS, block);
    }
    return term;
  }

  /** Takes the term out of the list that begins with `first`, and forgets it; returns the new first one. */
  remove(first: number, term: number): number {
    const heap = this.#heap;
    const after = this.next(term);
    let before = first;
    while (before !== term && this.next(before) !== term) before = this.next(before);
    if (before !== term) heap.set(before + NEXT, after);
    const block = heap.get(term + HYPHENS);
    if (block !== 0) heap.free(block, 1 + heap.get(block));
    heap.free(term, SIZE);
    return term === first ? after : first;
  }

  /**
   * Whether the text has the term's hyphens, and what is before it lets it stand at `start`. What is behind it:
   * `mayEndAt`.
   */
  stands(term: number, reader: TextReader, start: number): boolean {
    const flags = this.#heap.get(term + FLAGS);
    const symbols = reader.symbols.items;
    if ((flags & GUARDS_START) !== 0 && start > 0) {
      const kind = reader.tokens.kinds[start - 1];
      if (kind === WORD_TOKEN || symbols[start - 1] === POSSESSIVE_SYMBOL) return false;
      if (symbols[start - 1] === symbols[start]) return false;
    }
    return this.#standsHyphenated(term, symbols, start);
  }

  #standsHyphenated(term: number, symbols: Int32Array, start: number): boolean {
    const heap = this.#heap;
    const block = heap.get(term + HYPHENS);
    if (block === 0) return true;
    const end = block + 1 + heap.get(block);
    for (let address = block + 1; address < end; address++) {
      if (symbols[start + heap.get(address)] !== HYPHEN_SYMBOL) return false;
    }
    return true;
  }

  #hasHyphens(term: number, hyphens: readonly number[]): boolean {
    const heap = this.#heap;
    const block = heap.get(term + HYPHENS);
    if (block === 0) return hyphens.length === 0;
    return heap.get(block) === hyphens.length && hyphens.every((at, index) => heap.get(block + 1 + index) === at);
  }
}
