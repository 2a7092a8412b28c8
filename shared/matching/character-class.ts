/** Punctuation, symbols, emoji, controls, lone surrogates: everything that only separates. */
export const SYMBOL = 0;
/** A letter, digit or combining mark of a script that writes spaces between words. */
export const WORD = 1;
/** A character of a script that is matched by character, not by word. */
export const SPACELESS = 2;
export const SPACE = 3;

/**
 * Letters and digits go by Script_Extensions, so that ー and 々 count, but marks by Script: by extensions the accents of
 * Latin words (U+0305, U+0323) would belong to Katakana too. The tone and voicing marks of the ideographic scripts
 * have no script of their own and are named one by one, as is the middle dot of Japanese names.
 */
const SPACELESS_CHARACTER =
  /^(?:[[\p{L}\p{N}]&&[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]]|[\p{M}&&[\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]]|[\u302a-\u302f\u3099\u309a\u30fb])$/v;
const WORD_CHARACTER = /^[\p{L}\p{N}\p{M}]$/u;
const WHITESPACE = /^\p{White_Space}$/u;

function classify(character: string): number {
  if (SPACELESS_CHARACTER.test(character)) return SPACELESS;
  if (WORD_CHARACTER.test(character)) return WORD;
  return WHITESPACE.test(character) ? SPACE : SYMBOL;
}

const BASIC_PLANE = Uint8Array.from({ length: 0x10000 }, (_, unit) => classify(String.fromCharCode(unit)));

/** The class of a code point. Constant time below U+10000; beyond, a few regular expressions. */
export function characterClass(codePoint: number): number {
  return BASIC_PLANE[codePoint] ?? classify(String.fromCodePoint(codePoint));
}
