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

describe('the table of character classes', () => {
  test('has the class of each code point that its properties require', () => {
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
      const isJoining = (codePoint >= 0xd800 && codePoint < 0xe000) || codePoint === 0x200d;
      if (UNIT_CLASS[codePoint] !== (isJoining ? SURROGATE : expected)) wrong.push(codePoint.toString(16));
    }
    expect(wrong).toEqual([]);
    expect(UNIT_CLASS).toHaveLength(0x10000);
  });
});
