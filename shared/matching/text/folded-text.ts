import { characterAt, escapeAt } from './escapes.ts';
import { FOLD, NEEDS_CONTEXT, PLAIN_PAIRS } from './fold-table.ts';
import { foldInContext } from './fold-in-context.ts';
import { IntList } from '../tables/int-list.ts';

const AMPERSAND = 0x26;
const BACKSLASH = 0x5c;

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

/** Whether the table says all there is to say of the character, whatever stands beside it. */
function isPlain(codePoint: number): boolean {
  if (codePoint === AMPERSAND || codePoint === BACKSLASH || isHigh(codePoint) || isLow(codePoint)) return true;
  return codePoint > 0xffff ? PLAIN_PAIRS[codePoint - 0x10000] === 1 : FOLD[codePoint] !== NEEDS_CONTEXT;
}

/** Folds by the table alone from text[at] to units[end], as far as it goes; returns where that is in the text. */
function foldPlain(text: string, at: number, units: Uint16Array, end: number): number {
  const shift = end - at;
  const { length } = text;
  for (let next = at; next < length; next++) {
    const folded = FOLD[text.charCodeAt(next)] ?? NEEDS_CONTEXT;
    if (folded === NEEDS_CONTEXT) return next;
    units[next + shift] = folded;
  }
  return length;
}

/**
 * A text in the form in which keywords and texts are compared, and where in the original each of its code units came
 * from: entities and markdown escapes read, invisible characters gone, one form per letter, one case, every whitespace
 * character a space. It is used again for text after text.
 *
 * Nearly every character is folded by a table. Where that is not enough, the stretch up to the next two characters for
 * which it is is folded in context, some thirty times as slow.
 */
export class FoldedText {
  length = 0;
  /** UTF-16, valid up to `length`. Another array after a longer text. */
  units: Uint16Array = new Uint16Array(256);
  /**
   * Where units came from, in segments: the first unit of each, and the code units [from, to) of the original that made
   * every unit of it, or `to` 0: one for one from `from` on.
   */
  readonly #firsts = new IntList();
  readonly #froms = new IntList();
  readonly #tos = new IntList();

  /** Takes any UTF-16, lone surrogates too. */
  fold(text: string): void {
    this.#firsts.clear();
    this.#froms.clear();
    this.#tos.clear();
    this.#startSegment(0, 0, 0);
    this.length = 0;
    let at = 0;
    while (at < text.length) {
      this.#reserve(this.length + text.length - at);
      const next = foldPlain(text, at, this.units, this.length);
      this.length += next - at;
      at = next < text.length ? this.#foldSpecial(text, text.charCodeAt(next), next) : next;
    }
  }

  /** The place in the original of the first code unit that made this unit. */
  originalStart(unit: number): number {
    const segment = this.#segmentOf(unit);
    const from = this.#froms.items[segment] ?? 0;
    return this.#tos.items[segment] === 0 ? from + unit - (this.#firsts.items[segment] ?? 0) : from;
  }

  /** The place in the original behind the last code unit that made this unit. */
  originalEnd(unit: number): number {
    const to = this.#tos.items[this.#segmentOf(unit)] ?? 0;
    return to === 0 ? this.originalStart(unit) + 1 : to;
  }

  toString(): string {
    let folded = '';
    for (let unit = 0; unit < this.length; unit++) folded += String.fromCharCode(this.units[unit] ?? 0);
    return folded;
  }

  /** Folds at least the character at `at`; returns where to go on. */
  #foldSpecial(text: string, unit: number, at: number): number {
    if (unit === AMPERSAND || unit === BACKSLASH) {
      const escape = escapeAt(text, at);
      if (escape === undefined) {
        this.#push(unit);
        return at + 1;
      }
      const { codePoint, length } = escape;
      if (isPlain(codePoint) && codePoint <= 0xffff) {
        this.#startSegment(this.length, at, at + length);
        this.#push(FOLD[codePoint] === NEEDS_CONTEXT ? codePoint : (FOLD[codePoint] ?? 0));
        this.#startSegment(this.length, at + length, 0);
        return at + length;
      }
    } else if ((isHigh(unit) || isLow(unit)) && isPlain(text.codePointAt(at) ?? 0)) {
      this.#push(unit);
      if ((text.codePointAt(at) ?? 0) <= 0xffff) return at + 1;
      this.#push(text.charCodeAt(at + 1));
      return at + 2;
    }
    return this.#foldStretch(text, at);
  }

  /** Folds in context, from the character before `at` to where two plain characters follow each other. */
  #foldStretch(text: string, at: number): number {
    const start = this.#giveBackLast();
    let end = at;
    let isAfterPlain = false;
    while (end < text.length) {
      const { codePoint, length } = characterAt(text, end);
      const isThisPlain = isPlain(codePoint);
      if (isAfterPlain && isThisPlain) break;
      isAfterPlain = isThisPlain;
      end += length;
    }
    foldInContext(text.slice(start, end), (folded, from, to) => {
      this.#startSegment(this.length, start + from, start + to);
      for (let offset = 0; offset < folded.length; offset++) this.#push(folded.charCodeAt(offset));
    });
    this.#startSegment(this.length, end, 0);
    return end;
  }

  /** Takes back the last character, which may compose with what follows; returns where in the original it begins. */
  #giveBackLast(): number {
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

  /** The last segment that begins at the unit or before. */
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
