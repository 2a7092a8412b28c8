import { describe, expect, test } from 'vitest';
import { FoldedText } from '../../../../../shared/matching/text/folded-text.ts';
import { fold } from '../../../../support/oracles/reference-fold.ts';

/** The folded text, with every run of spaces shortened to one space, as the reference does. */
function foldedText(text: string): string {
  const folded = new FoldedText();
  folded.fold(text);
  return folded.toString().replace(/ {2,}/g, ' ');
}

describe('FoldedText', () => {
  test.each([
    ['A  B\t\r\nC', 'a b c'],
    [' a ', ' a '],
    ['a\u00a0\u3000b\u2028c\u0085d', 'a b c d'],
    ['&amp;lt;', '&lt;'],
    ['&LT;&foo;&amp', '&lt;&foo;&amp'],
    ['&#x41;&#66;&#0;&#xd800;&#1114112;', 'ab\ufffd\ufffd\ufffd'],
    ['\\_\\*\\#\\~\\>\\-\\.\\[\\]\\(\\)', '_*#~>-.[]()'],
    ['\\\\ \\a \\! \\', '\\\\ \\a \\! \\'],
    ['\\&amp;', '\\&'],
    ['x²①½ｘ²', 'x²①½x²'],
    ['ﬁﬂﬀﬃﬄﬅﬆ', 'fiflffffifflstst'],
    ['ｶﾞﾊﾟｰ･｡｢｣', 'ガパー・。「」'],
    ['𝔸𝒷𝕮𝖉𝙴𝟗𝛼ℎℝ', 'abcde9αhr'],
    ['a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg', 'abcdefg'],
    ['ก\u200bข\u200b\u200dค\u200b', 'ก ข ค'],
    ['a\u200bก\u200ba', 'aกa'],
    ['❤️👍🏽👩🏽\u200d💻', '❤👍👩💻'],
    ['a🏽', 'a🏽'],
    ['’‐‑–‘', "'--–‘"],
    ['I\u0307I\u0323\u0307', 'iị\u0307'],
    ['\ud83d\ud83d', '\ud83d\ud83d'],
  ])('%j becomes %j', (from, to) => {
    expect(foldedText(from)).toBe(to);
    expect(fold(from)).toBe(to);
  });

  // Each character stands between a letter that accepts a mark and a mark, so that everything that can compose does.
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
