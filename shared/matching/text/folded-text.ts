import { IntList } from '../terms/int-list.ts';
import { characterClass, SURROGATE, UNIT_CLASS, WORD } from './character-class.ts';
import { caseKeepingTable, FOLD, foldInContext, NEEDS_CONTEXT, PLAIN_PAIRS } from './folding.ts';
import { characterAt, CodeParts, escapeAt } from './markdown.ts';

const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;
const BACKTICK = 0x60;
const APOSTROPHE = 0x27;

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** Whether the table alone folds the character, whatever its neighbours. */
function isPlain(codePoint: number): boolean {
  if (codePoint === AMPERSAND || codePoint === BACKSLASH || codePoint === BACKTICK) return true;
  if (isHigh(codePoint) || isLow(codePoint)) return true;
  return codePoint > 0xffff ? PLAIN_PAIRS[codePoint - 0x10000] === 1 : FOLD[codePoint] !== NEEDS_CONTEXT;
}

/** Folds by the table alone, from text[offset] to units[end] on; returns the offset of the first other character. */
function foldPlain(text: string, offset: number, units: Uint16Array, end: number, table: Uint16Array): number {
  const shift = end - offset;
  const { length } = text;
  for (let stop = offset; stop < length; stop++) {
    const folded = table[text.charCodeAt(stop)] ?? NEEDS_CONTEXT;
    if (folded === NEEDS_CONTEXT) return stop;
    units[stop + shift] = folded;
  }
  return length;
}

/**
 * A text in the form in which keywords and texts are compared: entities and Markdown escapes decoded, invisible
 * characters removed, one form per letter, one case, every whitespace character a space. It also maps each of its code
 * units to the original text. One instance is reused for all texts.
 *
 * A table folds nearly every character. If a character needs its context, the stretch up to the next two plain
 * characters is folded in context, which is about thirty times as slow.
 *
 * Folding may also keep the case of letters. Both results have the same length, unit by unit.
 */
export class FoldedText {
  length = 0;
  /** UTF-16, valid up to `length`. A longer text replaces the array. */
  units: Uint16Array = new Uint16Array(256);
  /**
   * Segments map units to the original: the first unit of each segment, and the code units [from, to) of the original
   * that produced all of its units. If `to` is 0, units and original correspond one to one from `from` on.
   */
  readonly #firsts = new IntList();
  readonly #froms = new IntList();
  readonly #tos = new IntList();
  readonly #code = new CodeParts();
  #hasBackticks = false;
  readonly #keepsCase: boolean;
  readonly #table: Uint16Array;

  constructor(letters: 'folded' | 'as written' = 'folded') {
    this.#keepsCase = letters === 'as written';
    this.#table = this.#keepsCase ? caseKeepingTable() : FOLD;
  }

  fold(text: string): void {
    this.#begin(text);
    let offset = 0;
    while (offset < text.length) {
      this.#reserve(this.length + text.length - offset);
      const stop = foldPlain(text, offset, this.units, this.length, this.#table);
      this.length += stop - offset;
      offset = stop < text.length ? this.#foldSpecial(text, text.charCodeAt(stop), stop) : stop;
    }
    if (this.#hasBackticks) this.#foldBackticks();
  }

  /** The offset in the original of the first code unit that produced this unit. */
  originalStart(unit: number): number {
    const segment = this.#segmentOf(unit);
    const from = this.#froms.items[segment] ?? 0;
    return this.#tos.items[segment] === 0 ? from + unit - (this.#firsts.items[segment] ?? 0) : from;
  }

  /** The offset in the original after the last code unit that produced this unit. */
  originalEnd(unit: number): number {
    const to = this.#tos.items[this.#segmentOf(unit)] ?? 0;
    return to === 0 ? this.originalStart(unit) + 1 : to;
  }

  toString(): string {
    return Buffer.from(this.units.buffer, this.units.byteOffset, 2 * this.length).toString('utf16le');
  }

  /** Folds at least the character at `offset`; returns the offset at which to continue. */
  #foldSpecial(text: string, unit: number, offset: number): number {
    if (unit === BACKTICK) {
      this.#push(unit);
      return offset + 1;
    }
    if (unit === AMPERSAND || unit === BACKSLASH) {
      const escape = escapeAt(text, offset, this.#code);
      if (escape === undefined) {
        this.#push(unit);
        return offset + 1;
      }
      const { codePoint, length } = escape;
      if (isPlain(codePoint) && codePoint <= 0xffff) {
        this.#startSegment(this.length, offset, offset + length);
        this.#push(FOLD[codePoint] === NEEDS_CONTEXT ? codePoint : (this.#table[codePoint] ?? 0));
        this.#startSegment(this.length, offset + length, 0);
        return offset + length;
      }
    } else if ((isHigh(unit) || isLow(unit)) && isPlain(text.codePointAt(offset) ?? 0)) {
      this.#push(unit);
      if ((text.codePointAt(offset) ?? 0) <= 0xffff) return offset + 1;
      this.#push(text.charCodeAt(offset + 1));
      return offset + 2;
    }
    return this.#foldStretch(text, offset);
  }

  #begin(text: string): void {
    this.#firsts.clear();
    this.#froms.clear();
    this.#tos.clear();
    this.#startSegment(0, 0, 0);
    this.#code.set(text);
    this.length = 0;
    this.#hasBackticks = false;
  }

  /** A backtick between letters is an apostrophe, unless code begins or ends with it. */
  #foldBackticks(): void {
    const units = this.units.subarray(0, this.length);
    for (let at = units.indexOf(BACKTICK); at >= 0; at = units.indexOf(BACKTICK, at + 1)) {
      if (!this.#isWord(at - 1) || !this.#isWord(at + 1) || this.#code.has(this.originalStart(at))) continue;
      units[at] = APOSTROPHE;
    }
  }

  /** Whether the unit belongs to a letter, digit or mark of a word. */
  #isWord(unit: number): boolean {
    if (unit < 0 || unit >= this.length) return false;
    const unitClass = UNIT_CLASS[this.units[unit] ?? 0];
    if (unitClass !== SURROGATE) return unitClass === WORD;
    const first = isHigh(this.units[unit - 1] ?? 0) ? unit - 1 : unit;
    const pair = String.fromCharCode(...this.units.subarray(first, Math.min(this.length, first + 2)));
    return characterClass(pair.codePointAt(0) ?? 0) === WORD;
  }

  /** Folds in context, from the character before `offset` to the next two consecutive plain characters. */
  #foldStretch(text: string, offset: number): number {
    const start = this.#removeLastCharacter();
    let end = offset;
    let isAfterPlain = false;
    while (end < text.length) {
      const { codePoint, length } = characterAt(text, end, this.#code);
      const isThisPlain = isPlain(codePoint);
      if (isAfterPlain && isThisPlain) break;
      isAfterPlain = isThisPlain;
      end += length;
    }
    foldInContext({ text, start, end, code: this.#code }, this.#keepsCase, (folded, from, to) => {
      this.#startSegment(this.length, from, to);
      for (let offset = 0; offset < folded.length; offset++) this.#push(folded.charCodeAt(offset));
    });
    this.#startSegment(this.length, end, 0);
    return end;
  }

  /** Removes the last character, which may compose with the next one; returns its offset in the original. */
  #removeLastCharacter(): number {
    if (this.length === 0) return 0;
    const isPair =
      this.length > 1 && isLow(this.units[this.length - 1] ?? 0) && isHigh(this.units[this.length - 2] ?? 0);
    const start = this.originalStart(this.length - (isPair ? 2 : 1));
    while (this.length > 0 && this.originalStart(this.length - 1) >= start) this.length--;
    while (this.#firsts.length > 0 && (this.#firsts.items[this.#firsts.length - 1] ?? 0) >= this.length) {
      this.#firsts.length--;
      this.#froms.length--;
      this.#tos.length--;
    }
    return start;
  }

  #startSegment(first: number, from: number, to: number): void {
    this.#firsts.push(first);
    this.#froms.push(from);
    this.#tos.push(to);
  }

  #segmentOf(unit: number): number {
    const firsts = this.#firsts.items;
    let low = 0;
    let high = this.#firsts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((firsts[middle] ?? 0) <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #push(unit: number): void {
    if (unit === BACKTICK) this.#hasBackticks = true;
    this.#reserve(this.length + 1);
    this.units[this.length++] = unit;
  }

  #reserve(length: number): void {
    if (length <= this.units.length) return;
    const longer = new Uint16Array(Math.max(length, 2 * this.units.length));
    longer.set(this.units.subarray(0, this.length));
    this.units = longer;
  }
}
