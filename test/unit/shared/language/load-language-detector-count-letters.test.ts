import { expect, test } from 'vitest';
import { countLetters } from '../../../../shared/language/load-language-detector.ts';

const count = (text: string, letter: RegExp) => text.match(letter)?.length ?? 0;

/** The definition: each script's characters by its property of Unicode. */
function definition(text: string) {
  return {
    letters: count(text, /\p{L}/gu),
    latin: count(text, /\p{Script=Latin}/gu),
    hangul: count(text, /\p{Script=Hangul}/gu),
    kana: count(text, /[\p{Script=Hiragana}\p{Script=Katakana}]/gu),
    syllables: count(text, /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]/gu),
  };
}

test('every character is counted as Unicode says', () => {
  for (let from = 0; from < 0x32000; from += 0x100) {
    const text = Array.from({ length: 0x100 }, (_, at) => String.fromCodePoint(from + at)).join(' ');
    expect(countLetters(text)).toEqual(definition(text));
  }
});
