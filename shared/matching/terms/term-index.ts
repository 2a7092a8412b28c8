import { changeReferences, FoundTerms } from './found-terms.ts';
import { IntHeap } from './int-list.ts';
import { hasCase, kindOf, shapeOf } from './term-shape.ts';
import type { TermKind, TermShape } from './term-shape.ts';
import { TermTables } from './term-tables.ts';
import { WORD_TOKEN } from '../text/tokens.ts';
import type { Tokens } from '../text/tokens.ts';
import { IN_CASED_TERM, KEY_OF_CASED_TERM } from './word-table.ts';

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
