import { describe, expect, test } from 'vitest';
import {
  characterClass,
  SPACE,
  SPACELESS,
  SURROGATE,
  SYMBOL,
  UNIT_CLASS,
  WORD,
} from '../../../../../shared/matching/text/character-class.ts';
import { FoldedText } from '../../../../../shared/matching/text/folded-text.ts';
import { Tokens } from '../../../../../shared/matching/text/tokens.ts';
import { fold } from '../../../../support/oracles/reference-fold.ts';

describe('the table of character classes', () => {
  test('has of each code point the class that its properties ask for', () => {
    const scripts = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
    const ofScript = new RegExp(`^[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]$`, 'u');
    const shared = new Set(
      '\u3006\u302a\u302b\u302c\u302d\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303c\u3099\u309a\u30fb\u30fc',
    );
    const word = /[\p{L}\p{N}\p{M}]/u;
    const wrong: string[] = [];
    for (
      let codePoint = 0;
      codePoint < 0x110000;
      codePoint += codePoint >= 0x30000 ? 0xfff : codePoint >= 0x3000 ? 7 : 1
    ) {
      const character = String.fromCodePoint(codePoint);
      const isSpaceless = (word.test(character) && ofScript.test(character)) || shared.has(character);
      const expected = isSpaceless
        ? SPACELESS
        : word.test(character)
          ? WORD
          : /\p{White_Space}/u.test(character)
            ? SPACE
            : SYMBOL;
      if (characterClass(codePoint) !== expected) wrong.push(codePoint.toString(16));
      if (codePoint >= 0x10000) continue;
      if (UNIT_CLASS[codePoint] !== (codePoint >= 0xd800 && codePoint < 0xe000 ? SURROGATE : expected))
        wrong.push(codePoint.toString(16));
    }
    expect(wrong).toEqual([]);
    expect(UNIT_CLASS).toHaveLength(0x10000);
  });
});

describe('Tokens', () => {
  test('follow each other without gaps and hold equal values for equal words only', () => {
    const folded = new FoldedText();
    const tokens = new Tokens();
    const read = (text: string): string[] => {
      folded.fold(text);
      tokens.read(folded.units, 0, folded.length);
      const starts = tokens.starts.items;
      return Array.from({ length: tokens.count }, (_, at) =>
        folded.toString().slice(starts[at] ?? 0, starts[at + 1] ?? 0),
      );
    };
    expect(read("don't_ __a__b's'  手机ーx ")).toEqual([..."don't|_| |_|_|a__b|'s|'|  |手|机|ー|x| ".split('|')]);
    expect(read("x's's 's 's't a'")).toEqual(["x's", "'s", ' ', "'", 's', ' ', "'", "s't", ' ', 'a', "'"]);
    expect(read('\ud83da\ud801\udc28b🦀\ude00')).toEqual(['\ud83d', 'a𐐨b', '🦀', '\ude00']);
    expect(read('')).toEqual([]);
    const values = (text: string): number[] => {
      read(text);
      return Array.from(tokens.values.items.subarray(0, tokens.count));
    };
    const [one, two, three] = [values('abc xabc abc'), values('ABC'), values("abc's")];
    expect(one[0]).toBe(one[4]);
    expect(two[0]).toBe(one[0]);
    expect(three[0]).toBe(one[0]);
    expect(one[2]).not.toBe(one[0]);
    const words = Array.from({ length: 5000 }, (_, number) => number.toString(36));
    expect(new Set(words.flatMap((word) => values(word))).size).toBeGreaterThan(4990);
  });
});

describe('the table of folding', () => {
  /** Between a letter that takes a mark and a mark, so that whatever composes does. */
  test.each([
    [0, 0x3400],
    [0xa000, 0xad00],
    [0xd700, 0x10000],
    [0x10000, 0x20000],
    [0x2f800, 0x2fa20],
    [0xe0000, 0xe0200],
  ])('folds the code points from %i on as the reference does', (first, end) => {
    const folded = new FoldedText();
    const wrong: string[] = [];
    for (let codePoint = first; codePoint < end; codePoint++) {
      const character = String.fromCodePoint(codePoint);
      const decomposed = character.normalize('NFD');
      for (const text of [`a${character}a`, `手${decomposed}\u0301`]) {
        folded.fold(text);
        if (folded.toString().replace(/ {2,}/g, ' ') !== fold(text)) wrong.push(text);
      }
    }
    expect(wrong).toEqual([]);
  });
});
