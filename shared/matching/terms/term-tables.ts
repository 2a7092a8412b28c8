import type { FoundTerms } from './found-terms.ts';
import { IntHeap } from './int-list.ts';
import { PhraseTrie } from './phrase-trie.ts';
import { PrefixTerms } from './prefix-terms.ts';
import { SequenceAutomaton } from './sequence-automaton.ts';
import type { TermShape } from './term-shape.ts';
import { TextReader } from '../text/text-reader.ts';
import { BEGINS_PHRASES, IN_EXACT_SEQUENCE, IN_LOOSE_SEQUENCE, IS_TERM, WordTable } from './word-table.ts';

/** All terms whose letters are compared in one way. The methods work on what the reader has read. */
export class TermTables {
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
