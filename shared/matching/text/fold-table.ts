import { foldCase } from './case-folding.ts';

/**
 * Marks a code unit in FOLD that cannot be folded by itself. (U+FFFF is no character; it is folded with those so
 * marked.)
 */
export const NEEDS_CONTEXT = 0xffff;

export const ZERO_WIDTH_SPACE = 0x200b;

/**
 * Full-width ASCII, half-width kana, Latin ligatures, mathematical letters and digits, and the letters that Unicode
 * left out of the mathematical block because the letter-like symbols had them (ℎ is the italic h). Nothing else is made
 * compatible: x² stays x².
 */
const COMPATIBLE =
  '\\uff01-\\uff5e\\uff61-\\uff9f\\ufb00-\\ufb06\\u{1d400}-\\u{1d7ff}\\u2102\\u210a-\\u210e\\u2110-\\u2113\\u2115\\u2119-\\u211d\\u2124\\u2128\\u212c\\u212d\\u212f-\\u2131\\u2133\\u2134';
const IS_COMPATIBLE = new RegExp(`[${COMPATIBLE}]`, 'u');

/** What may merge with the character before it: combining marks, vowels and finals of Hangul, a vowel of Kirat Rai. */
const COMPOSING = '\\p{M}\\u1160-\\u11ff\\ud7b0-\\ud7fb\\u{16d67}';
const IS_COMPOSING = new RegExp(`[${COMPOSING}]`, 'u');

const INVISIBLE = '\\u00ad\\u200c-\\u200d\\u2060\\ufeff\\p{Variation_Selector}';
const IS_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'u');
const IS_ZERO_WIDTH_SPACED = /[\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const IS_SKIN_TONE = /\p{Emoji_Modifier}/u;
const TAKES_SKIN_TONE = /\p{Emoji_Modifier_Base}/u;

/** Vanishes wherever it stands. */
export const isInvisible = (character: string): boolean => IS_INVISIBLE.test(character);
/** Between two of these a zero-width space is a space. */
export const isZeroWidthSpaced = (character: string): boolean => IS_ZERO_WIDTH_SPACED.test(character);
/** Vanishes behind what it colours; anywhere else it is a symbol of its own and keeps the words beside it apart. */
export const isSkinTone = (character: string): boolean => IS_SKIN_TONE.test(character);
export const takesSkinTone = (character: string): boolean => TAKES_SKIN_TONE.test(character);

/** Whether a text can be cut in front of this character without changing how it is composed. */
export const isBoundary = (character: string): boolean => !IS_COMPOSING.test(character);

/** Whether composing leaves the character as it is, when nothing follows that composes with it. */
const isComposed = (character: string): boolean => isBoundary(character) && character.normalize('NFC') === character;

/** One form for all widths, ligatures, mathematical alphabets, apostrophes, hyphens and spaces. Case is left. */
export function plainForm(character: string): string {
  if (character === '\u2019') return "'";
  if (character === '\u2010' || character === '\u2011') return '-';
  if (/\p{White_Space}/u.test(character)) return ' ';
  return IS_COMPATIBLE.test(character) ? character.normalize('NFKC') : character;
}

/** Folded by a rule of its own: entities and escapes begin with these two. */
const ESCAPING = '&\\\\';
const CHANGING = new RegExp(
  `[${COMPATIBLE}\\p{White_Space}\\u2010\\u2011\\u2019\\p{Changes_When_Casefolded}\\p{Changes_When_Lowercased}]`,
  'gu',
);
const CONTEXTUAL = new RegExp(`[${COMPOSING}${INVISIBLE}${ESCAPING}\\u200b\\ud800-\\udfff\\uffff]`, 'gu');

/** Where characters stand that Unicode keeps only for the sake of older encodings, and that NFC replaces. */
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

const PLAIN_SYMBOL = /^[[\p{So}\p{Sk}]--\p{Emoji_Modifier}--[\u{1d000}-\u{1d7ff}]]$/v;

function buildPlainPairs(): Uint8Array {
  const table = new Uint8Array(0x10000);
  // Emoji and pictographs are there; what else lies beyond the basic plane is too rare to be worth a table.
  for (let codePoint = 0x1f000; codePoint < 0x1fb00; codePoint++) {
    const character = String.fromCodePoint(codePoint);
    if (PLAIN_SYMBOL.test(character)) table[codePoint - 0x10000] = 1;
  }
  return table;
}

/**
 * By code point less 0x10000: 1 for symbols, mostly emoji, that folding leaves as they are, whatever stands beside
 * them.
 */
export const PLAIN_PAIRS = buildPlainPairs();
