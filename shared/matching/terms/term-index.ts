import { isGap, TextReader } from '../text/text-reader.ts';
import { hasCase, kindOf, shapeOf, WORD_TOKEN } from '../text/tokens.ts';
import type { TermKind, TermShape, Tokens } from '../text/tokens.ts';
import { NODE_SIZE, NodeTable } from './address-table.ts';
import { changeReferences, FoundTerms, isReferenced, TERM_SIZE } from './found-terms.ts';
import { IntHeap } from './int-list.ts';
import { PrefixTerms } from './prefix-terms.ts';
import { SequenceAutomaton } from './sequence-automaton.ts';
import {
  BEGINS_PHRASES,
  IN_CASED_TERM,
  IN_EXACT_SEQUENCE,
  IN_LOOSE_SEQUENCE,
  IS_TERM,
  KEY_OF_CASED_TERM,
  WordTable,
} from './word-table.ts';

/** How a term is searched. Absent members mean the plain way. */
export interface TermOptions {
  /** Also in longer words that begin with the term. Ignored for terms that are not one word of three code units. */
  readonly prefix?: boolean | undefined;
  readonly caseSensitive?: boolean | undefined;
}

const PLAIN: TermOptions = {};

/**
 * All terms of all rules, each once, found in one pass over a text. A term is the address of its record in `heap`,
 * whose first integers are defined in found-terms.ts. Terms are added and removed in place, and counted by reference.
 *
 * Terms whose case counts are in tables of their own, in which letters are as written. A text is searched there only if
 * it has a word of such a term in any case, and only these words are looked up, each once: so it does not matter how
 * many spellings of a word are terms.
 */
export class TermIndex {
  readonly heap = new IntHeap();
  readonly found = new FoundTerms(this.heap);
  readonly #folded = new TermTables(this.heap, 'folded');
  /** Undefined until the first such term is added. */
  #cased: TermTables | undefined;
  /** The number of these terms. Without any, texts are not searched for them. */
  #casedTerms = 0;

  /** The steps of work since `begin`. */
  get steps(): number {
    return this.#folded.reader.steps + (this.#cased?.reader.steps ?? 0);
  }

  /** Adds a reference to the term, until `release`. Returns 0 if the keyword has nothing to search for. */
  acquire(written: string, options = PLAIN): number {
    const shape = this.#read(written, options, true);
    if (shape === undefined) return 0;
    if (!this.#isCased(options)) {
      const term = this.#folded.findOrAdd(shape);
      changeReferences(this.heap, term, 1);
      return term;
    }
    const cased = (this.#cased ??= new TermTables(this.heap, 'as written'));
    cased.reader.readLike(this.#folded.reader, written, 0, shape !== 'prefix');
    const term = cased.findOrAdd(shape);
    if (changeReferences(this.heap, term, 1) === 1) this.#watch(shape);
    return term;
  }

  /**
   * Removes one reference, given the same spelling and options as `acquire`. The last release removes the term.
   *
   * @param before is told the term while it still exists
   */
  release(written: string, options = PLAIN, before?: (term: number) => void): void {
    const shape = this.#read(written, options, false);
    if (shape === undefined) return;
    const isCased = this.#isCased(options);
    const tables = isCased ? this.#cased : this.#folded;
    if (isCased) tables!.reader.readLike(this.#folded.reader, written, 0, false);
    const term = tables!.findOrAdd(shape);
    before?.(term);
    if (changeReferences(this.heap, term, -1) > 0) return;
    tables!.remove(shape, term);
    if (isCased) this.#unwatch(shape);
  }

  /** The rule by which the keyword matches, or undefined if it has nothing to search for. */
  kindOf(written: string, options = PLAIN): TermKind | undefined {
    this.#read(written, options, false);
    return kindOf(this.#folded.reader.tokens, options.prefix === true);
  }

  /** Begins a new item and clears `found`. */
  begin(): void {
    this.found.clear();
    this.#folded.reader.steps = 0;
    if (this.#cased !== undefined) this.#cased.reader.steps = 0;
  }

  /** Adds every term that occurs in the text to `found`. @param text the number of the item's text */
  search(written: string, text: number): void {
    const { reader } = this.#folded;
    reader.readText(written);
    this.#folded.search(text, this.found);
    if (this.#cased === undefined || this.#casedTerms === 0 || (reader.allRoles & KEY_OF_CASED_TERM) === 0) return;
    this.#cased.reader.readLike(reader, written, IN_CASED_TERM, false);
    this.#cased.search(text, this.found);
  }

  /** Reads a term by its folded letters. A prefix is not added to the words. */
  #read(written: string, { prefix }: TermOptions, addWords: boolean): TermShape | undefined {
    const { reader } = this.#folded;
    if (prefix === true) {
      reader.readTerm(written, false, false);
      if (shapeOf(reader.tokens, true) === 'prefix') return 'prefix';
    }
    reader.readTerm(written, addWords);
    return shapeOf(reader.tokens, false);
  }

  /** Whether the letters of the term that was read are compared as written. */
  #isCased({ caseSensitive }: TermOptions): boolean {
    return caseSensitive === true && hasCase(this.#folded.reader.tokens);
  }

  /** Makes texts with the words of the term that was read be searched for terms whose letters are as written. */
  #watch(shape: TermShape): void {
    this.#casedTerms++;
    const { reader, words } = this.#folded;
    if (shape === 'prefix') {
      this.#folded.prefixes.watch(reader);
      return;
    }
    const key = keyOf(reader.tokens);
    for (let token = 0; token < reader.tokens.count; token++) {
      const symbol = reader.symbols.items[token] ?? 0;
      const role = token === key ? IN_CASED_TERM | KEY_OF_CASED_TERM : IN_CASED_TERM;
      if (symbol < 0) reader.addCharacterRole(symbol, role);
      else {
        words.addUses(symbol, 1);
        words.addRole(symbol, role);
      }
    }
  }

  #unwatch(shape: TermShape): void {
    this.#casedTerms--;
    const { reader, words } = this.#folded;
    if (shape === 'prefix') this.#folded.prefixes.unwatch(reader);
    else {
      for (let token = 0; token < reader.tokens.count; token++) {
        const symbol = reader.symbols.items[token] ?? 0;
        if (symbol > 0) words.addUses(symbol, -1);
      }
    }
    this.#folded.dropUnused();
  }
}

/** The longest word, which is probably the rarest, or the first token of a term without words. */
function keyOf({ count, kinds, starts }: Tokens): number {
  let key = 0;
  let longest = 0;
  for (let token = 0; token < count; token++) {
    const length = (starts.items[token + 1] ?? 0) - (starts.items[token] ?? 0);
    if (kinds[token] !== WORD_TOKEN || length <= longest) continue;
    key = token;
    longest = length;
  }
  return key;
}

/** Whether all given terms occur in a text, by the rules of keywords. Ignores those with nothing to search for. */
export class TermFinder {
  readonly #index = new TermIndex();
  readonly #terms: number[];

  constructor(terms: readonly string[]) {
    this.#terms = terms.map((term) => this.#index.acquire(term)).filter((term) => term !== 0);
  }

  allOccurIn(text: string): boolean {
    this.#index.begin();
    this.#index.search(text, 0);
    return this.#terms.every((term) => this.#index.found.indexOf(term) >= 0);
  }
}

/** All terms whose letters are compared in one way. The methods work on what the reader has read. */
class TermTables {
  readonly words: WordTable;
  readonly reader: TextReader;
  readonly #heap: IntHeap;
  readonly #phrases: PhraseTrie;
  readonly #exact: SequenceAutomaton;
  readonly #loose: SequenceAutomaton;
  /** Undefined as long as there is no such term: then texts are not searched for prefixes. */
  #prefixes: PrefixTerms | undefined;

  constructor(heap: IntHeap, letters: 'folded' | 'as written') {
    this.#heap = heap;
    // Separate from the other records, because every word of a text is looked up here: it must stay in the cache.
    this.words = new WordTable(new IntHeap(heap));
    this.reader = new TextReader(this.words, letters);
    this.#phrases = new PhraseTrie(heap);
    this.#exact = new SequenceAutomaton(heap, IN_EXACT_SEQUENCE, false);
    this.#loose = new SequenceAutomaton(heap, IN_LOOSE_SEQUENCE, true);
  }

  get prefixes(): PrefixTerms {
    return (this.#prefixes ??= new PrefixTerms(this.#heap));
  }

  /** The term that was read. It is created if it does not exist. */
  findOrAdd(shape: TermShape): number {
    const { reader, words } = this;
    if (shape === 'prefix') return this.prefixes.findOrAdd(reader);
    if (shape === 'exact') return this.#exact.findOrAdd(reader);
    if (shape === 'loose') return this.#loose.findOrAdd(reader);
    if (shape === 'phrase') return this.#phrases.findOrAdd(reader);
    const word = reader.symbols.items[0] ?? 0;
    words.addRole(word, IS_TERM);
    return words.term(word);
  }

  /** Removes the term that was read, which no rule references any more. */
  remove(shape: TermShape, term: number): void {
    const { reader, words } = this;
    if (shape === 'prefix') this.#prefixes?.remove(reader);
    else if (shape === 'exact') this.#exact.remove(term, reader);
    else if (shape === 'loose') this.#loose.remove(term, reader);
    else if (shape === 'phrase') this.#phrases.remove(term, reader);
    else words.removeTerm(reader.symbols.items[0] ?? 0);
    this.dropUnused();
  }

  /** Removes the words of the term that was read, and the table of prefixes, as far as nothing uses them. */
  dropUnused(): void {
    this.reader.removeUnusedWords();
    if (this.#prefixes?.isEmpty === true) this.#prefixes = undefined;
  }

  /** Adds every term that occurs in the text that was read to `found`. @param text the number of the item's text */
  search(text: number, found: FoundTerms): void {
    const { reader } = this;
    for (let index = 0; index < reader.starts.length; index++) {
      this.#searchWord(reader.starts.items[index] ?? 0, text, found);
    }
    if ((reader.allRoles & IN_EXACT_SEQUENCE) !== 0) this.#exact.search(reader, text, found);
    if ((reader.allRoles & IN_LOOSE_SEQUENCE) !== 0) this.#loose.search(reader, text, found);
    this.#prefixes?.search(reader, text, found);
  }

  #searchWord(token: number, text: number, found: FoundTerms): void {
    const { reader } = this;
    const roles = reader.roles.items[token] ?? 0;
    if ((roles & IS_TERM) !== 0 && !reader.isSignedLetter(token + 1)) {
      reader.report(found, this.words.term(reader.symbols.items[token] ?? 0), text, token, token + 1);
    }
    if ((roles & BEGINS_PHRASES) !== 0) this.#phrases.search(reader, token, text, found);
  }
}

/** The term that ends at a node is part of the node's record. */
const TERM = NODE_SIZE;
const SIZE = NODE_SIZE + TERM_SIZE;

/**
 * Finds terms that are words with spaces between them. From each word of a text that begins a phrase, the search
 * follows one path as long as whitespace or a single hyphen separates known words: at most 50 words, since each word of
 * a keyword takes at least two of its 100 characters. A phrase's first word has no node. Its negative address is the
 * parent of the nodes that follow.
 */
class PhraseTrie {
  readonly #heap: IntHeap;
  readonly #nodes: NodeTable;

  constructor(heap: IntHeap) {
    this.#heap = heap;
    this.#nodes = new NodeTable(heap, SIZE);
  }

  /** Creates the term if it does not exist. The search does not report it until a rule references it. */
  findOrAdd({ words, tokens, symbols }: TextReader): number {
    let node = -(symbols.items[0] ?? 0);
    for (let token = 2; token < tokens.count; token += 2) {
      const word = symbols.items[token] ?? 0;
      let child = this.#nodes.child(node, word);
      if (child === 0) {
        child = this.#nodes.addChild(node, word);
        words.addUses(word, 1);
        if (node < 0) {
          words.addUses(-node, 1);
          words.addRole(-node, BEGINS_PHRASES);
        }
      }
      node = child;
    }
    return node + TERM;
  }

  /** Removes the term, which no rule references any more, and all nodes that lead to no other term. */
  remove(term: number, { words }: TextReader): void {
    let node = term - TERM;
    while (node > 0 && !isReferenced(this.#heap, node + TERM) && this.#nodes.isLeaf(node)) {
      const parent = this.#nodes.parent(node);
      words.addUses(this.#nodes.symbol(node), -1);
      if (parent < 0) words.addUses(-parent, -1);
      this.#nodes.remove(node);
      node = parent;
    }
  }

  /** Reports every phrase that begins at the word at `start`. @param text the number of the item's text */
  search(reader: TextReader, start: number, text: number, found: FoundTerms): void {
    const symbols = reader.symbols.items;
    const { count } = reader.tokens;
    let node = -(symbols[start] ?? 0);
    for (let token = start + 2; token < count; token += 2) {
      const word = symbols[token] ?? 0;
      if (word <= 0 || !isGap(symbols[token - 1] ?? 0)) return;
      reader.steps++;
      node = this.#nodes.child(node, word);
      if (node === 0) return;
      if (isReferenced(this.#heap, node + TERM) && !reader.isSignedLetter(token + 1)) {
        reader.report(found, node + TERM, text, start, token + 1);
      }
    }
  }
}
