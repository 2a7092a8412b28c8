import { changeReferences, FoundTerms } from './found-terms.ts';
import { IntHeap } from '../tables/int-heap.ts';
import { PhraseTrie } from './phrase-trie.ts';
import { SequenceAutomaton } from './sequence-automaton.ts';
import { kindOf, shapeOf } from './term-shape.ts';
import type { TermKind, TermShape } from './term-shape.ts';
import { TextReader } from '../text/text-reader.ts';
import { BEGINS_PHRASES, IN_EXACT_SEQUENCE, IN_LOOSE_SEQUENCE, IS_TERM, WordTable } from '../tables/word-table.ts';

/**
 * All terms of all rules, each once, found in one pass over a text. A term is the address of its record in `heap`,
 * whose first integers are defined in found-terms.ts. Terms are added and removed in place, and counted by reference.
 */
export class TermIndex {
  readonly heap = new IntHeap();
  readonly found = new FoundTerms(this.heap);
  /** Separate from the other records, because every word of a text is looked up here: it must stay in the cache. */
  readonly #wordHeap = new IntHeap(this.heap);
  readonly #words = new WordTable(this.#wordHeap);
  readonly #reader = new TextReader(this.#words);
  readonly #phrases = new PhraseTrie(this.heap);
  readonly #exact = new SequenceAutomaton(this.heap, IN_EXACT_SEQUENCE, false);
  readonly #loose = new SequenceAutomaton(this.heap, IN_LOOSE_SEQUENCE, true);

  /** The bytes of all tables. */
  get bytes(): number {
    return this.heap.bytes + this.#words.bytes + this.#phrases.bytes + this.#exact.bytes + this.#loose.bytes;
  }

  /** The steps of work since `begin`. */
  get steps(): number {
    return this.#reader.steps;
  }

  /** Adds a reference to the term, until `release`. Returns 0 if the keyword has nothing to search for. */
  acquire(written: string): number {
    this.#reader.readTerm(written, true);
    const term = this.#findOrAdd(shapeOf(this.#reader.tokens));
    if (term !== 0) changeReferences(this.heap, term, 1);
    return term;
  }

  /** Removes one reference, given the same spelling as `acquire`. The last release removes the term. */
  release(written: string): void {
    const reader = this.#reader;
    reader.readTerm(written, false);
    const shape = shapeOf(reader.tokens);
    const term = this.#find(shape);
    if (term === 0 || changeReferences(this.heap, term, -1) > 0) return;
    if (shape === 'exact') this.#exact.remove(term, reader);
    else if (shape === 'loose') this.#loose.remove(term, reader);
    else if (shape === 'phrase') this.#phrases.remove(term, reader);
    else this.#words.removeTerm(reader.symbols.items[0] ?? 0);
    reader.removeUnusedWords();
  }

  /** The rule by which the keyword matches, or undefined if it has nothing to search for. */
  kindOf(written: string): TermKind | undefined {
    this.#reader.readTerm(written, false);
    return kindOf(this.#reader.tokens);
  }

  /** Begins a new item and clears `found`. */
  begin(): void {
    this.found.clear();
    this.#reader.steps = 0;
    this.#exact.begin();
    this.#loose.begin();
  }

  /** Adds every term that occurs in the text to `found`. @param field the number of the item's text */
  search(text: string, field: number): void {
    const reader = this.#reader;
    reader.readText(text);
    for (let index = 0; index < reader.starts.length; index++) this.#searchWord(reader.starts.items[index] ?? 0, field);
    if ((reader.allRoles & IN_EXACT_SEQUENCE) !== 0) this.#exact.search(reader, field, this.found);
    if ((reader.allRoles & IN_LOOSE_SEQUENCE) !== 0) this.#loose.search(reader, field, this.found);
  }

  /** Reports the word itself and the phrases that it begins. */
  #searchWord(token: number, field: number): void {
    const reader = this.#reader;
    const roles = reader.roles.items[token] ?? 0;
    if ((roles & IS_TERM) !== 0 && !reader.isSignedLetter(token + 1)) {
      reader.report(this.found, this.#words.term(reader.symbols.items[token] ?? 0), field, token, token + 1);
    }
    if ((roles & BEGINS_PHRASES) !== 0) this.#phrases.search(reader, token, field, this.found);
  }

  #findOrAdd(shape: TermShape | undefined): number {
    const reader = this.#reader;
    if (shape === 'exact') return this.#exact.findOrAdd(reader);
    if (shape === 'loose') return this.#loose.findOrAdd(reader);
    if (shape === 'phrase') return this.#phrases.findOrAdd(reader);
    if (shape === undefined) return 0;
    const word = reader.symbols.items[0] ?? 0;
    this.#words.addRole(word, IS_TERM);
    return this.#words.term(word);
  }

  #find(shape: TermShape | undefined): number {
    const reader = this.#reader;
    if (shape === 'exact') return this.#exact.find(reader);
    if (shape === 'loose') return this.#loose.find(reader);
    if (shape === 'phrase') return this.#phrases.find(reader);
    const word = reader.symbols.items[0] ?? 0;
    return shape === 'word' && word !== 0 && (this.#words.roles(word) & IS_TERM) !== 0 ? this.#words.term(word) : 0;
  }
}
