import { characterClass, SPACE, SPACELESS, SURROGATE, SYMBOL, UNIT_CLASS, WORD } from './character-class.ts';
import { IntList } from '../tables/int-list.ts';

/** What a token is. Zero is left for beyond the ends of a text. */
export const WORD_TOKEN = 1;
/** The 's behind a word. */
export const POSSESSIVE_TOKEN = 2;
/** One character of a script that is matched by character. */
export const CHARACTER_TOKEN = 3;
/** A run of whitespace. */
export const SPACE_TOKEN = 4;
/** One character of anything else. */
export const SYMBOL_TOKEN = 5;

const APOSTROPHE = 0x27;
const UNDERSCORE = 0x5f;
const SMALL_S = 0x73;

/**
 * FNV-1a over code units (Fowler, Noll, Vo), from a start that is drawn anew in each process, so that nobody can choose
 * collisions.
 */
const HASH_START = Math.floor(Math.random() * 0x7fffffff);
const FNV_PRIME = 0x01000193;

/** The finalizer of MurmurHash3 (Appleby): each bit of the input reaches each bit of the output. */
export function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function codePointAt(units: Uint16Array, at: number, end: number): number {
  const unit = units[at] ?? 0;
  if (unit < 0xd800 || unit >= 0xdc00 || at + 1 >= end) return unit;
  const low = units[at + 1] ?? 0;
  return low >= 0xdc00 && low < 0xe000 ? ((unit - 0xd800) << 10) + low - 0xdc00 + 0x10000 : unit;
}

function classAt(units: Uint16Array, at: number, end: number): number {
  if (at >= end) return SPACE;
  const unitClass = UNIT_CLASS[units[at] ?? 0] ?? SYMBOL;
  return unitClass === SURROGATE ? characterClass(codePointAt(units, at, end)) : unitClass;
}

/**
 * A folded text cut into whole words and single characters of anything else, one after the other without gaps. Since a
 * word is one token, matching whole words is a comparison of tokens, without any look at what stands beside. It is used
 * again for text after text.
 */
export class Tokens {
  count = 0;
  /** One of the constants above. */
  kinds: Uint8Array = new Uint8Array(64);
  /** Of a word its hash, of a character its code point, else 0. Only `items` is used. */
  readonly values = new IntList();
  /** Where each token begins among the units; one more than there are tokens. */
  readonly starts = new IntList();

  /** Cuts units[from, to). Linear in the length. */
  read(units: Uint16Array, from: number, to: number): void {
    this.#reset(to - from);
    const { kinds } = this;
    const values = this.values.items;
    const starts = this.starts.items;
    let count = 0;
    let at = from;
    while (at < to) {
      let unit = units[at] ?? 0;
      let unitClass = UNIT_CLASS[unit] ?? SYMBOL;
      starts[count] = at;
      if (unitClass === WORD) {
        const start = at;
        let hash = HASH_START;
        do {
          hash = Math.imul(hash ^ unit, FNV_PRIME);
          if (++at === to) break;
          unit = units[at] ?? 0;
          unitClass = UNIT_CLASS[unit] ?? SYMBOL;
        } while (unitClass === WORD);
        if (at === to || !mayJoin(unit, unitClass)) {
          kinds[count] = WORD_TOKEN;
          values[count++] = mix(hash);
          // Nearly always a space follows, and then a word.
          if (at === to || unitClass !== SPACE) continue;
          starts[count] = at;
        } else {
          at = start;
          unitClass = WORD;
        }
      }
      if (unitClass === SPACE) {
        kinds[count] = SPACE_TOKEN;
        values[count++] = 0;
        do at++;
        while (at < to && UNIT_CLASS[units[at] ?? 0] === SPACE);
      } else if (unitClass === SYMBOL || unitClass === SPACELESS) {
        kinds[count] = unitClass === SPACELESS ? CHARACTER_TOKEN : SYMBOL_TOKEN;
        values[count++] = unit;
        at++;
      } else {
        // A word that joins parts, or a character beyond the basic plane.
        this.count = count;
        at = this.#readSlowly(units, starts[count] ?? 0, to);
        ({ count } = this);
      }
    }
    this.count = count;
    starts[count] = to;
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

  /** Takes the word or the character that begins at `at`, whatever it is; returns where it ends. */
  #readSlowly(units: Uint16Array, at: number, to: number): number {
    const characterKind = classAt(units, at, to);
    if (characterKind === WORD) return this.#takeWord(units, at, to);
    const codePoint = codePointAt(units, at, to);
    this.#push(characterKind === SPACELESS ? CHARACTER_TOKEN : SYMBOL_TOKEN, codePoint, at);
    return at + (codePoint > 0xffff ? 2 : 1);
  }

  /** Takes the word that begins at `start`, and its possessive if it has one; returns where they end. */
  #takeWord(units: Uint16Array, start: number, limit: number): number {
    let end = start;
    let apostrophe = start;
    for (;;) {
      while (classAt(units, end, limit) === WORD) end += UNIT_CLASS[units[end] ?? 0] === SURROGATE ? 2 : 1;
      const next = bridge(units, end, limit);
      if (next === end) break;
      if (units[end] === APOSTROPHE) apostrophe = end;
      end = next;
    }
    const isPossessive = apostrophe > start && apostrophe === end - 2 && units[end - 1] === SMALL_S;
    this.#push(WORD_TOKEN, hashOf(units, start, isPossessive ? apostrophe : end), start);
    if (isPossessive) this.#push(POSSESSIVE_TOKEN, 0, apostrophe);
    return end;
  }
}

function hashOf(units: Uint16Array, start: number, end: number): number {
  let hash = HASH_START;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (units[at] ?? 0), FNV_PRIME);
  return mix(hash);
}

/** Whether a word may go on behind the word characters that end before this unit. */
function mayJoin(unit: number, unitClass: number): boolean {
  return unit === APOSTROPHE || unit === UNDERSCORE || unitClass === SURROGATE;
}

/**
 * Where the run of word characters goes on behind `at`, which is at no word character: over an apostrophe or over any
 * number of underscores, if a word character follows. Otherwise `at`.
 */
function bridge(units: Uint16Array, at: number, end: number): number {
  let next = at;
  if (units[at] === APOSTROPHE) next++;
  else while (next < end && units[next] === UNDERSCORE) next++;
  return next > at && classAt(units, next, end) === WORD ? next : at;
}
