import { FoldedText } from './folded-text.ts';
import type { FoundTerms } from '../terms/found-terms.ts';
import { IntList } from '../tables/int-list.ts';
import { POSSESSIVE_TOKEN, SPACE_TOKEN, Tokens, WORD_TOKEN } from './tokens.ts';
import { BEGINS_PHRASES, IS_LETTER, IS_TERM } from '../tables/word-table.ts';
import type { WordTable } from '../tables/word-table.ts';

/** Symbols: of a word its address (0: no term has it), of a character less than 0, so that the two never meet. */
export const characterSymbol = (codePoint: number): number => -1 - codePoint;
export const SPACE_SYMBOL = characterSymbol(0x20);
export const HYPHEN_SYMBOL = characterSymbol(0x2d);
const PLUS_SYMBOL = characterSymbol(0x2b);
const HASH_SYMBOL = characterSymbol(0x23);
export const POSSESSIVE_SYMBOL = characterSymbol(0x110000);

const CHARACTER_BITS = 0xfff;
/** Characters have the two roles in sequences only. */
const ROLE_SHIFT = 24;

/** Quotes and underscores mark a keyword up, they are not part of it. The ’ of a quotation has become ' by folding. */
const AROUND = new Set(Array.from(' _"\'‘“”„«»「」', (character) => character.charCodeAt(0)));

/**
 * A text or a keyword, folded and cut into tokens, each of which is an integer: its symbol. All tries search symbols.
 * One reader is used again for text after text.
 */
export class TextReader {
  readonly words: WordTable;
  readonly tokens = new Tokens();
  /** Only `items` is used, as of all lists that run beside the tokens. */
  readonly symbols = new IntList();
  /** The roles of each word that a term has, and of each character that one may have; else 0. */
  readonly roles = new IntList();
  /** The roles of all of them together, but for spaces. */
  allRoles = 0;
  /** Which tokens are words that are terms or begin phrases. */
  readonly starts = new IntList();
  /** Steps of work since they were last set to 0, one for each code unit, probe and visited node or posting. */
  steps = 0;
  readonly #folded = new FoldedText();
  /**
   * By the lower bits of a character's symbol, its roles shifted down. Two characters may share them: a false alarm
   * costs a probe.
   */
  readonly #characterRoles = new Uint8Array(CHARACTER_BITS + 1);

  constructor(words: WordTable) {
    this.words = words;
  }

  /** Reads a text. Words that no term has become 0. */
  readText(text: string): void {
    this.#folded.fold(text);
    this.tokens.read(this.#folded.units, 0, this.#folded.length);
    this.#readSymbols(false);
    this.steps += this.#folded.length + this.tokens.count;
  }

  /**
   * Reads a keyword, without quotes and underscores around it. When nothing is left of it there are no tokens.
   *
   * @param addWords whether words that no term has are added; they are to be given back by `removeUnusedWords`
   */
  readTerm(term: string, addWords: boolean): void {
    this.#folded.fold(term);
    const { units } = this.#folded;
    let from = 0;
    let to = this.#folded.length;
    while (from < to && AROUND.has(units[from] ?? 0)) from++;
    while (from < to && AROUND.has(units[to - 1] ?? 0)) to--;
    this.tokens.read(units, from, to);
    this.#readSymbols(addWords);
  }

  /** Once given, a role stays. @param symbol of a character */
  addCharacterRole(symbol: number, role: number): void {
    const place = symbol & CHARACTER_BITS;
    this.#characterRoles[place] = (this.#characterRoles[place] ?? 0) | (role >>> ROLE_SHIFT);
  }

  /** Of the keyword that was read last. */
  removeUnusedWords(): void {
    const { tokens, symbols } = this;
    for (let at = 0; at < tokens.count; at++) {
      const word = symbols.items[at] ?? 0;
      if (word <= 0) continue;
      // The same word again in the keyword: after its removal the record is nobody's.
      for (let later = at + 1; later < tokens.count; later++) {
        if (symbols.items[later] === word) symbols.items[later] = 0;
      }
      this.words.removeUnused(tokens.values.items[at] ?? 0, word);
    }
  }

  /** Whether the token before `end` is one letter and + or # follows, which makes it another name (C in C++). */
  isSignedLetter(end: number): boolean {
    if (end >= this.tokens.count) return false;
    const after = this.symbols.items[end];
    if (after !== PLUS_SYMBOL && after !== HASH_SYMBOL) return false;
    const last = this.symbols.items[end - 1] ?? 0;
    return last > 0 && (this.words.roles(last) & IS_LETTER) !== 0;
  }

  /** Adds a term that stands at tokens [start, end) of this text. */
  report(found: FoundTerms, term: number, field: number, start: number, end: number): void {
    const { starts } = this.tokens;
    const from = this.#folded.originalStart(starts.items[start] ?? 0);
    found.add(term, field, from, this.#folded.originalEnd((starts.items[end] ?? 0) - 1));
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
    for (let at = 0; at < count; at++) {
      const kind = kinds[at];
      if (kind === WORD_TOKEN) {
        let word = words.find(values[at] ?? 0, units, starts[at] ?? 0, starts[at + 1] ?? 0);
        const ofWord = word === 0 ? 0 : words.foundRoles;
        if (addWords && word === 0) word = words.add(values[at] ?? 0, units, starts[at] ?? 0, starts[at + 1] ?? 0);
        symbols[at] = word;
        roles[at] = ofWord;
        all |= ofWord;
        if ((ofWord & (IS_TERM | BEGINS_PHRASES)) !== 0) this.starts.push(at);
      } else if (kind === SPACE_TOKEN) {
        symbols[at] = SPACE_SYMBOL;
        roles[at] = spaceRoles;
      } else {
        const symbol = kind === POSSESSIVE_TOKEN ? POSSESSIVE_SYMBOL : characterSymbol(values[at] ?? 0);
        const ofCharacter = (characterRoles[symbol & CHARACTER_BITS] ?? 0) << ROLE_SHIFT;
        symbols[at] = symbol;
        roles[at] = ofCharacter;
        all |= ofCharacter;
      }
    }
    this.allRoles = all;
  }
}

/** Whether the token may stand between two words of a phrase: whitespace, or a single hyphen. */
export function isGap(symbol: number): boolean {
  return symbol === SPACE_SYMBOL || symbol === HYPHEN_SYMBOL;
}
