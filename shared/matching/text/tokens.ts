import { IntList } from '../terms/int-list.ts';
import { characterClass, SPACE, SPACELESS, SURROGATE, SYMBOL, UNIT_CLASS, WORD } from './character-class.ts';

/** Kinds of tokens. Odd ones are compared by their code units. Zero stands for positions beyond the ends of a text. */
export const WORD_TOKEN = 1;
/** The 's after a word. */
export const POSSESSIVE_TOKEN = 2;
/** An emoji of several characters: a flag, or emoji that are joined. */
export const EMOJI_TOKEN = 3;
/** One character of a script that is matched by character. */
export const CHARACTER_TOKEN = 4;
/** A run of whitespace. */
export const SPACE_TOKEN = 6;
/** Any other single character. */
export const SYMBOL_TOKEN = 8;

const APOSTROPHE = 0x27;
const UNDERSCORE = 0x5f;
const SMALL_S = 0x73;
const ZERO_WIDTH_JOINER = 0x200d;
/** The letters of flags. */
const FIRST_INDICATOR = 0x1f1e6;
const LAST_INDICATOR = 0x1f1ff;
/** French and Italian words that lose their last letter before a vowel: after their apostrophe a word begins. */
export const ELIDED_WORDS = 'l d j n s m t c qu un all dell nell sull'.split(' ');
const ELIDED: ReadonlySet<number> = new Set(ELIDED_WORDS.map((word) => pack(Buffer.from(word), 0, word.length)));
const LONGEST_ELIDED = 4;
/** The value of a possessive with a capital S, where letters are as written; that of others is 0. */
const CAPITAL_POSSESSIVE = 1;

/** FNV-1a (Fowler, Noll, Vo). The start is random in each process, so that nobody can construct collisions. */
export const HASH_START = Math.floor(Math.random() * 0x7fffffff);
export const FNV_PRIME = 0x01000193;

/** The finalizer of MurmurHash3 (Appleby): each bit of the input reaches each bit of the output. */
export function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function codePointAt(units: Uint16Array, offset: number, end: number): number {
  const unit = units[offset] ?? 0;
  if (unit < 0xd800 || unit >= 0xdc00 || offset + 1 >= end) return unit;
  const low = units[offset + 1] ?? 0;
  return low >= 0xdc00 && low < 0xe000 ? ((unit - 0xd800) << 10) + low - 0xdc00 + 0x10000 : unit;
}

function classAt(units: Uint16Array, offset: number, end: number): number {
  if (offset >= end) return SPACE;
  const unitClass = UNIT_CLASS[units[offset] ?? 0] ?? SYMBOL;
  return unitClass === SURROGATE ? characterClass(codePointAt(units, offset, end)) : unitClass;
}

/**
 * A folded text cut into whole words and other single characters, without gaps. Since a word is one token, matching
 * whole words is a comparison of tokens and needs no check of neighbours. One instance is reused for all texts.
 */
export class Tokens {
  count = 0;
  /** The kind of each token: one of the constants above. */
  kinds: Uint8Array = new Uint8Array(64);
  /** The hash of a word or a long emoji, the code point of a character, else 0. Only `items` is used. */
  readonly values = new IntList();
  /** The first unit of each token, and one entry more for the end of the last token. */
  starts = new IntList();
  #splitsElisions = true;

  /** Cuts units[from, to) into tokens, in linear time. @param splitsElisions whether l'IA is two words */
  read(units: Uint16Array, from: number, to: number, splitsElisions = true): void {
    this.#splitsElisions = splitsElisions;
    this.#reset(to - from);
    const { kinds } = this;
    const values = this.values.items;
    const starts = this.starts.items;
    let count = 0;
    let offset = from;
    while (offset < to) {
      let unit = units[offset] ?? 0;
      let unitClass = UNIT_CLASS[unit] ?? SYMBOL;
      starts[count] = offset;
      if (unitClass === WORD) {
        const start = offset;
        let hash = HASH_START;
        do {
          hash = Math.imul(hash ^ unit, FNV_PRIME);
          if (++offset === to) break;
          unit = units[offset] ?? 0;
          unitClass = UNIT_CLASS[unit] ?? SYMBOL;
        } while (unitClass === WORD);
        if (offset === to || !mayJoin(unit, unitClass)) {
          kinds[count] = WORD_TOKEN;
          values[count++] = mix(hash);
          // Nearly always a space follows, then a word.
          if (offset === to || unitClass !== SPACE) continue;
          starts[count] = offset;
        } else {
          offset = start;
          unitClass = WORD;
        }
      }
      if (unitClass === SPACE) {
        kinds[count] = SPACE_TOKEN;
        values[count++] = 0;
        do offset++;
        while (offset < to && UNIT_CLASS[units[offset] ?? 0] === SPACE);
      } else if (unitClass === SYMBOL || unitClass === SPACELESS) {
        kinds[count] = unitClass === SPACELESS ? CHARACTER_TOKEN : SYMBOL_TOKEN;
        values[count++] = unit;
        offset++;
      } else {
        // A word that joins parts, or a character beyond the basic plane.
        this.count = count;
        offset = this.#readSlowly(units, starts[count] ?? 0, to);
        ({ count } = this);
      }
    }
    this.count = count;
    starts[count] = to;
  }

  /** Takes over the tokens of the same text in another case, without the values of words (`hashWord`). */
  readLike(other: Tokens, units: Uint16Array): void {
    this.count = other.count;
    this.kinds = other.kinds;
    this.starts = other.starts;
    this.values.reserve(other.count);
    const values = this.values.items;
    const starts = this.starts.items;
    for (let token = 0; token < this.count; token++) {
      const kind = this.kinds[token];
      const [start, end] = [starts[token] ?? 0, starts[token + 1] ?? 0];
      if (kind === SYMBOL_TOKEN || kind === CHARACTER_TOKEN) values[token] = codePointAt(units, start, end);
      else values[token] = kind === POSSESSIVE_TOKEN && units[start + 1] !== SMALL_S ? CAPITAL_POSSESSIVE : 0;
    }
  }

  /** Sets the value of a token that `readLike` took over, if it is a word or a long emoji. */
  hashWord(token: number, units: Uint16Array): void {
    if (((this.kinds[token] ?? 0) & 1) === 0) return;
    const starts = this.starts.items;
    this.values.items[token] = hashOf(units, starts[token] ?? 0, starts[token + 1] ?? 0);
  }

  #reset(length: number): void {
    this.values.reserve(length);
    this.starts.reserve(length + 1);
    if (this.kinds.length < length) this.kinds = new Uint8Array(Math.max(length, 2 * this.kinds.length));
  }

  #push(kind: number, value: number, start: number): void {
    this.kinds[this.count] = kind;
    this.values.items[this.count] = value;
    this.starts.items[this.count++] = start;
  }

  /** Adds the word or character at `offset`; returns its end. */
  #readSlowly(units: Uint16Array, offset: number, to: number): number {
    const characterKind = classAt(units, offset, to);
    if (characterKind === WORD) return this.#takeWord(units, offset, to);
    const codePoint = codePointAt(units, offset, to);
    if (codePoint === ZERO_WIDTH_JOINER) return this.#joinEmoji(units, offset, to);
    if (isIndicator(codePoint) && isIndicator(codePointAt(units, offset + 2, to))) {
      this.#push(EMOJI_TOKEN, hashOf(units, offset, offset + 4), offset);
      return offset + 4;
    }
    this.#push(characterKind === SPACELESS ? CHARACTER_TOKEN : SYMBOL_TOKEN, codePoint, offset);
    return offset + (codePoint > 0xffff ? 2 : 1);
  }

  /** Makes one token of the last one and of all that are joined to it; returns its end. Folding left the joiners. */
  #joinEmoji(units: Uint16Array, offset: number, to: number): number {
    const start = this.count === 0 ? offset : (this.starts.items[--this.count] ?? 0);
    let end = offset;
    while (end < to && units[end] === ZERO_WIDTH_JOINER) end += codePointAt(units, end + 1, to) > 0xffff ? 3 : 2;
    this.#push(EMOJI_TOKEN, hashOf(units, start, end), start);
    return end;
  }

  /** Adds the word at `start`, and its possessive if it has one; returns their end. */
  #takeWord(units: Uint16Array, start: number, limit: number): number {
    let end = start;
    let apostrophe = start;
    for (;;) {
      while (classAt(units, end, limit) === WORD) end += UNIT_CLASS[units[end] ?? 0] === SURROGATE ? 2 : 1;
      const next = skipJoiner(units, end, limit);
      if (next === end) break;
      if (apostrophe === start && this.#endsElided(units, start, end, limit)) {
        this.#push(WORD_TOKEN, hashOf(units, start, next), start);
        return next;
      }
      if (units[end] === APOSTROPHE) apostrophe = end;
      end = next;
    }
    const isPossessive = apostrophe > start && apostrophe === end - 2 && units[end - 1] === SMALL_S;
    this.#push(WORD_TOKEN, hashOf(units, start, isPossessive ? apostrophe : end), start);
    if (isPossessive) this.#push(POSSESSIVE_TOKEN, 0, apostrophe);
    return end;
  }

  /** Whether units[start, end), which a letter follows after one unit, is an elided word. None follows another. */
  #endsElided(units: Uint16Array, start: number, end: number, limit: number): boolean {
    if (units[end] !== APOSTROPHE || end - start > LONGEST_ELIDED || !this.#splitsElisions) return false;
    if (!ELIDED.has(pack(units, start, end))) return false;
    if (this.count > 0 && this.kinds[this.count - 1] === WORD_TOKEN) return false;
    const isPossessive = units[end + 1] === SMALL_S && classAt(units, end + 2, limit) !== WORD;
    return !isPossessive || skipJoiner(units, end + 2, limit) !== end + 2;
  }

  /** Whether the token is an elided word. The next one is a word. */
  isElided(token: number, units: Uint16Array): boolean {
    return this.kinds[token] === WORD_TOKEN && units[(this.starts.items[token + 1] ?? 0) - 1] === APOSTROPHE;
  }
}

/** A short word of letters from a to z as one number. */
function pack(units: ArrayLike<number>, start: number, end: number): number {
  let key = 0;
  for (let offset = start; offset < end; offset++) key = key * 0x80 + Math.min(units[offset] ?? 0, 0x7f);
  return key;
}

/** The hash of a word that consists of these units. */
export function hashOf(units: Uint16Array, start: number, end: number): number {
  let hash = HASH_START;
  for (let offset = start; offset < end; offset++) hash = Math.imul(hash ^ (units[offset] ?? 0), FNV_PRIME);
  return mix(hash);
}

function isIndicator(codePoint: number): boolean {
  return codePoint >= FIRST_INDICATOR && codePoint <= LAST_INDICATOR;
}

/** Whether a word may continue at this unit, which is not a word character itself. */
function mayJoin(unit: number, unitClass: number): boolean {
  return unit === APOSTROPHE || unit === UNDERSCORE || unitClass === SURROGATE;
}

/** The offset of the word character behind an apostrophe or underscores; `offset` if there is none. */
function skipJoiner(units: Uint16Array, offset: number, end: number): number {
  let next = offset;
  if (units[offset] === APOSTROPHE) next++;
  else while (next < end && units[next] === UNDERSCORE) next++;
  return next > offset && classAt(units, next, end) === WORD ? next : offset;
}

/** The structure that stores a term, by what it consists of. */
export type TermShape =
  | 'prefix'
  | 'word'
  /** Words separated by spaces, which may be hyphens in the text. */
  | 'phrase'
  /** Words with spaces, and symbols; the spaces may be hyphens. */
  | 'loose'
  /** Everything else, which must occur exactly. */
  | 'exact';

/** How a term matches, in the terms of the rules. */
export type TermKind = 'word' | 'prefix' | 'phrase' | 'punctuation' | 'characters' | 'symbols';

export function hasKind({ kinds, count }: Tokens, kind: number): boolean {
  for (let token = 0; token < count; token++) if (kinds[token] === kind) return true;
  return false;
}

function isPhrase({ kinds, count }: Tokens): boolean {
  for (let token = 0; token < count; token++)
    if (kinds[token] !== (token % 2 === 0 ? WORD_TOKEN : SPACE_TOKEN)) return false;
  return true;
}

export const MIN_PREFIX_LENGTH = 3;

/** The shape of a keyword, or undefined if it has no tokens. @param isPrefix counts only for one word, not too short */
export function shapeOf(tokens: Tokens, isPrefix: boolean): TermShape | undefined {
  if (tokens.count === 0) return undefined;
  if (isPhrase(tokens)) {
    if (tokens.count > 1) return 'phrase';
    const length = (tokens.starts.items[1] ?? 0) - (tokens.starts.items[0] ?? 0);
    return isPrefix && length >= MIN_PREFIX_LENGTH ? 'prefix' : 'word';
  }
  const isLoose = hasKind(tokens, WORD_TOKEN) && !hasKind(tokens, CHARACTER_TOKEN) && hasKind(tokens, SPACE_TOKEN);
  return isLoose ? 'loose' : 'exact';
}

/** Whether the term has letters that could be written in another case: words, or symbols such as ⓐ. */
export function hasCase(tokens: Tokens): boolean {
  if (hasKind(tokens, WORD_TOKEN)) return true;
  for (let token = 0; token < tokens.count; token++) {
    if (tokens.kinds[token] !== SYMBOL_TOKEN) continue;
    const character = String.fromCodePoint(tokens.values.items[token] ?? 0);
    if (character.toUpperCase() !== character.toLowerCase()) return true;
  }
  return false;
}

export function kindOf(tokens: Tokens, isPrefix: boolean): TermKind | undefined {
  const shape = shapeOf(tokens, isPrefix);
  if (shape !== 'loose' && shape !== 'exact') return shape;
  if (hasKind(tokens, CHARACTER_TOKEN)) return 'characters';
  return hasKind(tokens, WORD_TOKEN) ? 'punctuation' : 'symbols';
}
