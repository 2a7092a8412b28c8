import { foldCase } from './case-folding.ts';

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
export const IS_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'u');
/** White space, and letters and symbols that show nothing: the fillers of Hangul and the empty cell of Braille. */
const BLANK = '\\p{White_Space}\\u3164\\uffa0\\u2800';
const IS_BLANK = new RegExp(`[${BLANK}]`, 'u');
/** What stands for ' inside words on some keyboards. The backtick does only between letters (folded-text.ts). */
const APOSTROPHES = '\\u00b4\\u02bc\\u2018\\u2019';
const IS_APOSTROPHE = new RegExp(`[${APOSTROPHES}]`, 'u');
/** A zero-width space between two of these is a space. */
export const ZERO_WIDTH_SPACED = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
/** Removed after an emoji that takes it. Elsewhere it is a symbol of its own and separates words. */
export const SKIN_TONE = /\p{Emoji_Modifier}/u;
export const TAKES_SKIN_TONE = /\p{Emoji_Modifier_Base}/u;
/** A zero-width joiner between two of these makes one emoji of them. */
export const PICTOGRAPH = /[\p{Extended_Pictographic}--\p{L}]/v;

/** Whether a text can be cut before this character without changing how it is composed. */
export const isBoundary = (character: string): boolean => !IS_COMPOSING.test(character);

/** Whether composition leaves the character unchanged if no composing character follows. */
const isComposed = (character: string): boolean => isBoundary(character) && character.normalize('NFC') === character;

/** One form for all widths, ligatures, mathematical alphabets, apostrophes, hyphens and spaces. Keeps the case. */
export function plainForm(character: string): string {
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

function buildTable(): Uint16Array {
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
export const FOLD = buildTable();

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
