import { characterAt } from './markdown.ts';
import type { CodeParts } from './markdown.ts';

const IS_CASED = /^[\p{Changes_When_Casefolded}\p{Changes_When_Lowercased}]$/u;
const CASED = /[\p{Changes_When_Casefolded}\p{Changes_When_Lowercased}]/gu;

/** No cased letter is above this code point (Unicode 17: Adlam ends at U+1E943). */
const LAST_CASED = 0x1ffff;

function isOneCharacter(text: string): boolean {
  return String.fromCodePoint(text.codePointAt(0) ?? 0) === text;
}

/**
 * Simple case folding (the C and S rows of Unicode's CaseFolding.txt), derived from the engine's own mappings: the
 * lower case of the upper case, which maps ſ to s and ς to σ. If the upper case has several letters (ß, ŉ), the lower
 * case is used, so that ß never becomes ss. The only exception to Unicode's table is İ, which becomes i, so that
 * Turkish names match.
 */
function foldCharacter(character: string): string {
  if (character === 'İ') return 'i';
  const upper = character.toUpperCase();
  const folded = (isOneCharacter(upper) ? upper : character).toLowerCase();
  return isOneCharacter(folded) ? folded : character;
}

function buildCaseTable(): ReadonlyMap<string, string> {
  const table = new Map<string, string>();
  for (let codePoint = 0; codePoint <= LAST_CASED; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (IS_CASED.test(character)) table.set(character, foldCharacter(character));
  }
  return table;
}

const CASE_TABLE = buildCaseTable();

/** Folds the case of each code point by itself, independent of locale and neighbours. */
export function foldCase(text: string): string {
  return text.replace(CASED, (character) => CASE_TABLE.get(character) ?? character);
}

/** Marks code units in FOLD that cannot be folded alone. U+FFFF itself is not a character and is folded with them. */
export const NEEDS_CONTEXT = 0xffff;

export const ZERO_WIDTH_SPACE = 0x200b;
export const ZERO_WIDTH_JOINER = 0x200d;

/**
 * Full-width ASCII, half-width kana, Latin ligatures, mathematical letters and digits, and the letters that Unicode
 * left out of the mathematical block because the letter-like symbols had them (ℎ is the italic h). No other
 * compatibility form is changed: x² stays x².
 */
const COMPATIBLE =
  '\\uff01-\\uff5e\\uff61-\\uff9f\\ufb00-\\ufb06\\u{1d400}-\\u{1d7ff}\\u2102\\u210a-\\u210e\\u2110-\\u2113\\u2115\\u2119-\\u211d\\u2124\\u2128\\u212c\\u212d\\u212f-\\u2131\\u2133\\u2134';
const IS_COMPATIBLE = new RegExp(`[${COMPATIBLE}]`, 'u');

/** May merge with the previous character: combining marks, vowels and finals of Hangul, a vowel of Kirat Rai. */
const COMPOSING = '\\p{M}\\u1160-\\u11ff\\ud7b0-\\ud7fb\\u{16d67}';
const IS_COMPOSING = new RegExp(`[${COMPOSING}]`, 'u');

/** Joiners, marks and controls of direction, invisible operators, the soft hyphen, and what only widens Arabic. */
const INVISIBLE =
  '\\u034f\\u0640\\u00ad\\u061c\\u180e\\u200c-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff\\p{Variation_Selector}';
/** Is always removed. */
const IS_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'u');
/** White space, and letters and symbols that show nothing: the fillers of Hangul and the empty cell of Braille. */
const BLANK = '\\p{White_Space}\\u3164\\uffa0\\u2800';
const IS_BLANK = new RegExp(`[${BLANK}]`, 'u');
/** What stands for ' inside words on some keyboards. The backtick does only between letters (folded-text.ts). */
const APOSTROPHES = '\\u00b4\\u02bc\\u2018\\u2019';
const IS_APOSTROPHE = new RegExp(`[${APOSTROPHES}]`, 'u');
/** A zero-width space between two of these is a space. */
const ZERO_WIDTH_SPACED = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Removed after an emoji that takes it. Elsewhere it is a symbol of its own and separates words. */
export const SKIN_TONE = /\p{Emoji_Modifier}/u;
const TAKES_SKIN_TONE = /\p{Emoji_Modifier_Base}/u;
/** A zero-width joiner between two of these makes one emoji of them. */
const PICTOGRAPH = /[\p{Extended_Pictographic}--\p{L}]/v;

/** Whether a text can be cut before this character without changing how it is composed. */
const isBoundary = (character: string): boolean => !IS_COMPOSING.test(character);

/** Whether composition leaves the character unchanged if no composing character follows. */
const isComposed = (character: string): boolean => isBoundary(character) && character.normalize('NFC') === character;

/** One form for all widths, ligatures, mathematical alphabets, apostrophes, hyphens and spaces. Keeps the case. */
function plainForm(character: string): string {
  if (IS_APOSTROPHE.test(character)) return "'";
  if (character === '\u2010' || character === '\u2011') return '-';
  if (IS_BLANK.test(character)) return ' ';
  return IS_COMPATIBLE.test(character) ? character.normalize('NFKC') : character;
}

/** The first characters of entities and escapes, which are decoded separately, and what becomes a backtick. */
const ESCAPING = '&\\\\`\\uff40';
const CHANGING = new RegExp(
  `[${COMPATIBLE}${BLANK}${APOSTROPHES}\\u2010\\u2011\\p{Changes_When_Casefolded}\\p{Changes_When_Lowercased}]`,
  'gu',
);
const CONTEXTUAL = new RegExp(`[${INVISIBLE}${COMPOSING}${ESCAPING}\\u200b\\ud800-\\udfff\\uffff]`, 'gu');

/** Ranges with characters that exist only for compatibility with older encodings, and that NFC replaces. */
const UNSTABLE_RANGES = [
  [0x0340, 0x3000],
  [0xf900, 0xfb50],
] as const;

function buildFoldTable(): Uint16Array {
  const table = Uint16Array.from({ length: 0x10000 }, (_, unit) => unit);
  const characters = String.fromCharCode(...table.subarray(0, 0x8000)) + String.fromCharCode(...table.subarray(0x8000));
  for (const [character] of characters.matchAll(CHANGING)) {
    if (character.length > 1) continue;
    const folded = foldCase(plainForm(character));
    table[character.charCodeAt(0)] = folded.length === 1 && isComposed(folded) ? folded.charCodeAt(0) : NEEDS_CONTEXT;
  }
  for (const [character] of characters.matchAll(CONTEXTUAL)) {
    if (character.length === 1) table[character.charCodeAt(0)] = NEEDS_CONTEXT;
  }
  for (const [first, end] of UNSTABLE_RANGES) {
    for (let unit = first; unit < end; unit++) if (!isComposed(String.fromCharCode(unit))) table[unit] = NEEDS_CONTEXT;
  }
  return table.fill(NEEDS_CONTEXT, 0xd800, 0xe000);
}

/** What each UTF-16 code unit becomes, or NEEDS_CONTEXT. */
export const FOLD = buildFoldTable();

/** As FOLD, but the case of letters is kept. Built when the first text is read in this way. */
export function caseKeepingTable(): Uint16Array {
  if (keepingCase !== undefined) return keepingCase;
  keepingCase = FOLD.slice();
  for (let unit = 0; unit < keepingCase.length; unit++) {
    const character = String.fromCharCode(unit);
    if (FOLD[unit] !== unit && FOLD[unit] !== NEEDS_CONTEXT) keepingCase[unit] = plainForm(character).charCodeAt(0);
  }
  return keepingCase;
}

let keepingCase: Uint16Array | undefined;

const PLAIN_SYMBOL = /^[[\p{So}\p{Sk}]--\p{Emoji_Modifier}--[\u{1d000}-\u{1d7ff}]]$/v;

function buildPlainPairs(): Uint8Array {
  const table = new Uint8Array(0x10000);
  // These are emoji and pictographs. Other characters beyond the basic plane are too rare to be worth a table.
  for (let codePoint = 0x1f000; codePoint < 0x1fb00; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (PLAIN_SYMBOL.test(character)) table[codePoint - 0x10000] = 1;
  }
  return table;
}

/** By code point minus 0x10000: 1 for symbols, mostly emoji, that folding never changes, whatever their neighbours. */
export const PLAIN_PAIRS = buildPlainPairs();

/** Receives folded characters that cannot be separated, with the code units [from, to) that produced them. */
type Emit = (folded: string, from: number, to: number) => void;

/** Whether the table alone folds the character. A text can then also be cut before it. */
function foldsAlone(character: string): boolean {
  return character.length === 1 && FOLD[character.charCodeAt(0)] !== NEEDS_CONTEXT;
}

interface Stretch {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly code: CodeParts;
}

/** Removes invisible characters, but makes some zero-width spaces spaces, and keeps joiners between emoji. */
function visibleCharacters({ text, start, end, code }: Stretch, emit: Emit): void {
  let previous = '';
  let space: [from: number, to: number] | undefined;
  let joiner: [from: number, to: number] | undefined;
  let to = start;
  while (to < end) {
    const from = to;
    const { codePoint, length } = characterAt(text, from, code);
    to += length;
    const character = String.fromCodePoint(codePoint);
    if (codePoint === ZERO_WIDTH_SPACE) {
      space ??= [from, to];
      continue;
    }
    if (codePoint === ZERO_WIDTH_JOINER) joiner ??= [from, to];
    if (IS_INVISIBLE.test(character)) continue;
    if (space !== undefined && ZERO_WIDTH_SPACED.test(previous) && ZERO_WIDTH_SPACED.test(character))
      emit(' ', ...space);
    else if (SKIN_TONE.test(character) && TAKES_SKIN_TONE.test(previous)) continue;
    if (joiner !== undefined && PICTOGRAPH.test(previous) && PICTOGRAPH.test(character)) {
      emit(String.fromCodePoint(ZERO_WIDTH_JOINER), ...joiner);
    }
    space = undefined;
    joiner = undefined;
    previous = character;
    emit(character, from, to);
  }
}

/** Unicode's Stream-Safe Text Format (UAX 15). The time to compose is quadratic in the marks on one letter. */
const MAX_MARKS = 30;

/** A character with the marks that follow it. Composition and case folding never cross a cluster. */
class Cluster {
  readonly #emit: Emit;
  readonly #pieces: { character: string; from: number; to: number }[] = [];
  readonly #keepsCase: boolean;

  constructor(keepsCase: boolean, emit: Emit) {
    this.#keepsCase = keepsCase;
    this.#emit = emit;
  }

  add(character: string, from: number, to: number): void {
    if (foldsAlone(character) || isBoundary(character) || this.#pieces.length > MAX_MARKS) this.flush();
    this.#pieces.push({ character, from, to });
  }

  flush(): void {
    const [only, second] = this.#pieces;
    if (only !== undefined && second === undefined && foldsAlone(only.character)) {
      const table = this.#keepsCase ? caseKeepingTable() : FOLD;
      this.#emit(String.fromCharCode(table[only.character.charCodeAt(0)] ?? 0), only.from, only.to);
    } else this.#foldTogether();
    this.#pieces.length = 0;
  }

  #foldTogether(): void {
    const written = this.#pieces.map(({ character }) => character).join('');
    // Compose twice: İ must be one character before its case is folded, and H with a line below has a composed form
    // only as a small letter.
    const folded = foldCase(written.normalize('NFC')).normalize('NFC');
    if (folded === foldCase(written)) {
      // Nothing was composed, so each character keeps its own position.
      for (const { character, from, to } of this.#pieces) {
        this.#emit(this.#cased(foldCase(character), character), from, to);
      }
    } else this.#emit(this.#cased(folded, written), this.#pieces[0]!.from, this.#pieces.at(-1)!.to);
  }

  /**
   * The folded form, or the composed form with its letters as written, cut to the same length. It is longer where only
   * the small letter is one character with its mark (ẖ), and its first character says which letter was written.
   */
  #cased(folded: string, written: string): string {
    return this.#keepsCase ? written.normalize('NFC').slice(0, folded.length).padEnd(folded.length, '\0') : folded;
  }
}

/**
 * Folds any UTF-16 in linear time. Removed characters belong to no folded character, so a match never begins or ends
 * with one.
 *
 * @param keepsCase folds everything but the case of letters, to the same length
 */
export function foldInContext(stretch: Stretch, keepsCase: boolean, emit: Emit): void {
  const cluster = new Cluster(keepsCase, emit);
  visibleCharacters(stretch, (character, from, to) => {
    for (const plain of plainForm(character)) cluster.add(plain, from, to);
  });
  cluster.flush();
}
