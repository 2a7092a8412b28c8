import { UNIT_CLASS, WORD } from './character-class.ts';
import { FoldedText } from './folded-text.ts';
import type { FoundTerms } from '../terms/found-terms.ts';
import { IntList } from '../terms/int-list.ts';
import { POSSESSIVE_TOKEN, SPACE_TOKEN, Tokens } from './tokens.ts';
import { BEGINS_PHRASES, IS_LETTER, IS_TERM } from '../terms/word-table.ts';
import type { WordTable } from '../terms/word-table.ts';

/** The symbol of a word is its address (0: no term has it), that of a character is negative, so they never collide. */
export const characterSymbol = (codePoint: number): number => -1 - codePoint;
export const SPACE_SYMBOL = characterSymbol(0x20);
export const HYPHEN_SYMBOL = characterSymbol(0x2d);
const PLUS_SYMBOL = characterSymbol(0x2b);
const HASH_SYMBOL = characterSymbol(0x23);
/** The symbol of a possessive; with a capital S, where letters are as written, it is the next one. */
const POSSESSIVE = 0x110000;

const CHARACTER_BITS = 0xfff;
/** Roles that characters may have: those of sequences, and KEY_OF_CASED_TERM. */
const ROLE_SHIFT = 24;

/** Quotes and underscores around a keyword are markup, not part of it. Folding has turned ’ into '. */
const KEYWORD_MARKUP = new Set(Array.from(' _"\'‘“”„«»「」', (character) => character.charCodeAt(0)));

/** Nearly all keywords begin and end with a letter, and the table of classes answers sooner than the set. */
const isMarkup = (unit: number): boolean => UNIT_CLASS[unit] !== WORD && KEYWORD_MARKUP.has(unit);

/** A text or a keyword as tokens, each with an integer, its symbol, by which all tries search. Reused for all texts. */
export class TextReader {
  readonly words: WordTable;
  readonly tokens = new Tokens();
  /** Parallel to the tokens, so only `items` is used. The same holds for `roles`. */
  readonly symbols = new IntList();
  /** The roles of each token that is a word of a term or may be a character of one, else 0. */
  readonly roles = new IntList();
  /** The union of the roles of all tokens except spaces. */
  allRoles = 0;
  /** The indexes of the tokens that are words and are terms or begin phrases. */
  readonly starts = new IntList();
  /** Steps of work since the last reset: one for each code unit, probe and visited node or posting. */
  steps = 0;
  readonly #folded: FoldedText;
  /** Shifted down, by the lower bits of the symbol. Characters may share a slot: a false positive costs a probe. */
  readonly #characterRoles = new Uint8Array(CHARACTER_BITS + 1);

  constructor(words: WordTable, letters: 'folded' | 'as written' = 'folded') {
    this.words = words;
    this.#folded = new FoldedText(letters);
  }

  get units(): Uint16Array {
    return this.#folded.units;
  }

  /** Reads a text. The symbol of a word that no term has is 0. */
  readText(text: string): void {
    this.#folded.fold(text);
    this.tokens.read(this.#folded.units, 0, this.#folded.length);
    this.#readSymbols(false);
    this.steps += this.#folded.length + this.tokens.count;
  }

  /**
   * Reads a keyword, without quotes and underscores around it. There are no tokens if nothing is left of it.
   *
   * @param addWords whether to add words that no term has; `removeUnusedWords` removes those that stay unused
   * @param splitsElisions false for the beginning of a word
   */
  readTerm(term: string, addWords: boolean, splitsElisions = true): void {
    this.#folded.fold(term);
    const { units } = this.#folded;
    let from = 0;
    let to = this.#folded.length;
    while (from < to && isMarkup(units[from] ?? 0)) from++;
    while (from < to && isMarkup(units[to - 1] ?? 0)) to--;
    this.tokens.read(units, from, to, splitsElisions);
    this.#readSymbols(addWords);
  }

  /**
   * Reads what the other reader has just read, in another case. Looks up only words that have the role there.
   *
   * @param addWords as in `readTerm`
   */
  readLike(other: TextReader, text: string, role: number, addWords: boolean): void {
    this.#folded.fold(text);
    const { tokens } = this;
    tokens.readLike(other.tokens, this.#folded.units);
    const roles = other.roles.items;
    for (let token = 0; token < tokens.count; token++) {
      if (((roles[token] ?? 0) & role) === role) tokens.hashWord(token, this.#folded.units);
    }
    this.#readSymbols(addWords);
    this.steps += this.#folded.length + tokens.count;
  }

  /** Adds a role to a character. Roles of characters are never removed. @param symbol of a character */
  addCharacterRole(symbol: number, role: number): void {
    const slot = symbol & CHARACTER_BITS;
    this.#characterRoles[slot] = (this.#characterRoles[slot] ?? 0) | (role >>> ROLE_SHIFT);
  }

  /** Removes the words of the keyword that was read last, as far as nothing uses them. */
  removeUnusedWords(): void {
    const { tokens, symbols } = this;
    for (let token = 0; token < tokens.count; token++) {
      const word = symbols.items[token] ?? 0;
      if (word <= 0) continue;
      // The keyword may have the word again, but after its removal the record is free.
      for (let later = token + 1; later < tokens.count; later++) {
        if (symbols.items[later] === word) symbols.items[later] = 0;
      }
      this.words.removeUnused(tokens.values.items[token] ?? 0, word);
    }
  }

  /** Whether the token before `end` is one letter, followed by + or #, which makes it a different name (C in C++). */
  isSignedLetter(end: number): boolean {
    if (end >= this.tokens.count) return false;
    const after = this.symbols.items[end];
    if (after !== PLUS_SYMBOL && after !== HASH_SYMBOL) return false;
    const last = this.symbols.items[end - 1] ?? 0;
    return last > 0 && (this.words.roles(last) & IS_LETTER) !== 0;
  }

  /** Adds a term that occurs at the tokens [start, end) of this text, whose number is `text`. */
  report(found: FoundTerms, term: number, text: number, start: number, end: number): void {
    if (found.hasIn(term, 1 << text)) return;
    found.add(term, text, this.originalStart(start), this.originalEnd(end - 1));
  }

  originalStart(token: number): number {
    return this.#folded.originalStart(this.tokens.starts.items[token] ?? 0);
  }

  originalEnd(token: number): number {
    return this.#folded.originalEnd((this.tokens.starts.items[token + 1] ?? 0) - 1);
  }

  #readSymbols(addWords: boolean): void {
    const { tokens, words } = this;
    const { kinds, count } = tokens;
    const { units } = this.#folded;
    this.symbols.reserve(count);
    this.roles.reserve(count);
    const values = tokens.values.items;
    const starts = tokens.starts.items;
    const symbols = this.symbols.items;
    const roles = this.roles.items;
    const characterRoles = this.#characterRoles;
    const spaceRoles = (characterRoles[SPACE_SYMBOL & CHARACTER_BITS] ?? 0) << ROLE_SHIFT;
    let all = 0;
    this.starts.clear();
    for (let token = 0; token < count; token++) {
      const kind = kinds[token] ?? 0;
      if ((kind & 1) === 1) {
        let word = words.find(values[token] ?? 0, units, starts[token] ?? 0, starts[token + 1] ?? 0);
        const wordRoles = word === 0 ? 0 : words.foundRoles;
        if (addWords && word === 0)
          word = words.add(values[token] ?? 0, units, starts[token] ?? 0, starts[token + 1] ?? 0);
        symbols[token] = word;
        roles[token] = wordRoles;
        all |= wordRoles;
        if ((wordRoles & (IS_TERM | BEGINS_PHRASES)) !== 0) this.starts.push(token);
      } else if (kind === SPACE_TOKEN) {
        symbols[token] = SPACE_SYMBOL;
        roles[token] = spaceRoles;
      } else {
        const symbol = characterSymbol((kind === POSSESSIVE_TOKEN ? POSSESSIVE : 0) + (values[token] ?? 0));
        const symbolRoles = (characterRoles[symbol & CHARACTER_BITS] ?? 0) << ROLE_SHIFT;
        symbols[token] = symbol;
        roles[token] = symbolRoles;
        all |= symbolRoles;
      }
    }
    this.allRoles = all;
  }
}

/** Whether the token may separate two words of a phrase: whitespace or a single hyphen. */
export function isGap(symbol: number): boolean {
  return symbol === SPACE_SYMBOL || symbol === HYPHEN_SYMBOL;
}
