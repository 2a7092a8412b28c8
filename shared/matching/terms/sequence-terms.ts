import { HYPHEN_SYMBOL } from '../text/text-reader.ts';
import type { TextReader } from '../text/text-reader.ts';
import {
  CHARACTER_TOKEN,
  EMOJI_TOKEN,
  hasKind,
  POSSESSIVE_TOKEN,
  SPACE_TOKEN,
  SYMBOL_TOKEN,
  WORD_TOKEN,
} from '../text/tokens.ts';
import { TERM_SIZE } from './found-terms.ts';
import type { IntHeap } from './int-list.ts';

/** Integers of a term's record after those of found-terms.ts. */
const FLAGS = TERM_SIZE;
const NEXT = TERM_SIZE + 1;
const HYPHENS = TERM_SIZE + 2;
const SIZE = TERM_SIZE + 3;

/** Begins with a symbol that must not follow a word or the same symbol (.NET in ASP.NET). */
const GUARDS_START = 1;

const EMOJI = /^[\p{Extended_Pictographic}\p{Regional_Indicator}]$/u;

function isGuarded({ tokens }: TextReader, token: number): boolean {
  if (tokens.kinds[token] !== SYMBOL_TOKEN) return false;
  return !EMOJI.test(String.fromCodePoint(tokens.values.items[token] ?? 0));
}

/** Whether a token of this kind may be part of a keyword of symbols alone, which matches anywhere. */
export function isSymbolic(kind: number | undefined): boolean {
  return kind === SYMBOL_TOKEN || kind === SPACE_TOKEN || kind === EMOJI_TOKEN;
}

/** Whether a term with a word or a letter may end before the token `end`, by the rules for the token that follows. */
export function mayEndAt(reader: TextReader, end: number): boolean {
  if (end >= reader.tokens.count) return true;
  const symbols = reader.symbols.items;
  if (symbols[end] === symbols[end - 1] && isGuarded(reader, end - 1)) return false;
  return !reader.isSignedLetter(end);
}

/** Symbols alone match anywhere. For a keyword with letters, the neighbours of its edge symbols count. */
function flagsOf(reader: TextReader): number {
  if (!hasKind(reader.tokens, WORD_TOKEN) && !hasKind(reader.tokens, CHARACTER_TOKEN)) return 0;
  return isGuarded(reader, 0) ? GUARDS_START : 0;
}

/** The indexes of the hyphens among the tokens of the keyword that was read. */
function hyphensOf({ tokens, symbols }: TextReader): number[] {
  const hyphens: number[] = [];
  for (let token = 0; token < tokens.count; token++) if (symbols.items[token] === HYPHEN_SYMBOL) hyphens.push(token);
  return hyphens;
}

/**
 * The terms at the nodes of an automaton. In the loose automaton, where a hyphen and a space are one symbol, a node can
 * have a list of several terms, which differ in where they require a hyphen.
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

  /** The term that was read, in the list that begins with `first`, or 0 if it is not there. */
  find(first: number, reader: TextReader): number {
    let term = first;
    if (this.#isLoose) {
      const hyphens = hyphensOf(reader);
      while (term !== 0 && !this.#hasHyphensAt(term, hyphens)) term = this.next(term);
    }
    return term;
  }

  /** Creates the term that was read. It becomes the head of a node's list, before `next`. */
  create(reader: TextReader, next: number): number {
    const heap = this.#heap;
    const term = heap.allocate(SIZE);
    heap.set(term + FLAGS, flagsOf(reader));
    heap.set(term + NEXT, next);
    const hyphens = this.#isLoose ? hyphensOf(reader) : [];
    if (hyphens.length > 0) {
      const block = heap.allocate(1 + hyphens.length);
      heap.set(block, hyphens.length);
      hyphens.forEach((token, index) => {
        heap.set(block + 1 + index, token);
      });
      heap.set(term + HYPHENS, block);
    }
    return term;
  }

  /** Removes the term from the list that begins with `first` and frees it; returns the new head of the list. */
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

  /** Whether the text has the term's hyphens, and the token before `start` allows the term to begin there. */
  mayStartAt(term: number, reader: TextReader, start: number): boolean {
    const flags = this.#heap.get(term + FLAGS);
    const symbols = reader.symbols.items;
    if ((flags & GUARDS_START) !== 0 && start > 0) {
      const kind = reader.tokens.kinds[start - 1];
      if (kind === WORD_TOKEN || kind === POSSESSIVE_TOKEN) return false;
      if (symbols[start - 1] === symbols[start]) return false;
    }
    return this.#hasHyphensInText(term, symbols, start);
  }

  #hasHyphensInText(term: number, symbols: Int32Array, start: number): boolean {
    const heap = this.#heap;
    const block = heap.get(term + HYPHENS);
    if (block === 0) return true;
    const end = block + 1 + heap.get(block);
    for (let address = block + 1; address < end; address++) {
      if (symbols[start + heap.get(address)] !== HYPHEN_SYMBOL) return false;
    }
    return true;
  }

  #hasHyphensAt(term: number, hyphens: readonly number[]): boolean {
    const heap = this.#heap;
    const block = heap.get(term + HYPHENS);
    if (block === 0) return hyphens.length === 0;
    return heap.get(block) === hyphens.length && hyphens.every((token, index) => heap.get(block + 1 + index) === token);
  }
}
