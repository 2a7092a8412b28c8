import { describe, expect, test } from 'vitest';
import { foldCase } from '../../../../../shared/matching/text/case-folding.ts';

/** Every letter that has another case, in ranges that also hold what has none. */
const CODE_POINTS = Array.from({ length: 0x20000 }, (_, codePoint) => codePoint).filter((codePoint) =>
  /[\p{Cased}\p{Changes_When_Casemapped}]/u.test(String.fromCodePoint(codePoint)),
);

/** The engine's own simple case folding, which regular expressions use. It knows no İ. */
function sameForRegExp(one: string, other: string): boolean {
  return new RegExp(`^\\u{${(one.codePointAt(0) ?? 0).toString(16)}}$`, 'iu').test(other);
}

describe('case folding', () => {
  test('never joins what simple case folding keeps apart', () => {
    const wrong = CODE_POINTS.map((codePoint) => String.fromCodePoint(codePoint)).filter(
      (character) => character !== 'İ' && !sameForRegExp(character, foldCase(character)),
    );
    expect(wrong).toEqual([]);
    expect(CODE_POINTS.length).toBeGreaterThan(2500);
  });

  test('joins what simple case folding joins', () => {
    const wrong = CODE_POINTS.map((codePoint) => String.fromCodePoint(codePoint)).flatMap((character) =>
      [character.toUpperCase(), character.toLowerCase()]
        // Folding follows composition, which leaves no U+1FBE, the one letter whose fold Unicode hides behind its
        // canonical form.
        .filter((other) => sameForRegExp(character, other) && character.normalize('NFC') === character)
        .filter((other) => foldCase(character) !== foldCase(other)),
    );
    expect(wrong).toEqual([]);
  });

  test('is one code point for one, and final', () => {
    for (const codePoint of CODE_POINTS) {
      const folded = foldCase(String.fromCodePoint(codePoint));
      expect(Array.from(folded)).toHaveLength(1);
      expect(foldCase(folded)).toBe(folded);
    }
  });

  test.each([
    ['İ', 'i'],
    ['ı', 'ı'],
    ['I', 'i'],
    ['ſ', 's'],
    ['ẞ', 'ß'],
    ['ß', 'ß'],
    ['ς', 'σ'],
    ['Σ', 'σ'],
    ['\u212a', 'k'],
    ['ΑΣ', 'ασ'],
    ['µ', 'μ'],
    ['Ǆ', 'ǆ'],
    ['ǅ', 'ǆ'],
    ['Ꭰ', 'ꭰ'],
    ['𐐀', '𐐨'],
  ])('%s becomes %s', (from, to) => {
    expect(foldCase(from)).toBe(to);
  });
});
