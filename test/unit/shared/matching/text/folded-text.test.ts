import { describe, expect, test } from 'vitest';
import { FoldedText } from '../../../../../shared/matching/text/folded-text.ts';
import { fold } from '../../../../support/oracles/reference-fold.ts';

describe('FoldedText', () => {
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
