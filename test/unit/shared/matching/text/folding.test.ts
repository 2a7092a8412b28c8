import { describe, expect, test } from 'vitest';
import { foldCase } from '../../../../../shared/matching/text/folding.ts';

/** Every letter with more than one case, up to U+1FFFF. */
const CODE_POINTS = Array.from({ length: 0x20000 }, (_, codePoint) => codePoint).filter((codePoint) =>
  /[\p{Cased}\p{Changes_When_Casemapped}]/u.test(String.fromCodePoint(codePoint)),
);

/** The engine's own simple case folding, as in regular expressions. It does not fold İ. */
function sameForRegExp(one: string, other: string): boolean {
  return new RegExp(`^\\u{${(one.codePointAt(0) ?? 0).toString(16)}}$`, 'iu').test(other);
}

describe('case folding', () => {
  test('never joins letters that simple case folding separates', () => {
    const wrong = CODE_POINTS.map((codePoint) => String.fromCodePoint(codePoint)).filter(
      (character) => character !== 'İ' && !sameForRegExp(character, foldCase(character)),
    );
    expect(wrong).toEqual([]);
    expect(CODE_POINTS.length).toBeGreaterThan(2500);
  });

  test('joins all letters that simple case folding joins', () => {
    const wrong = CODE_POINTS.map((codePoint) => String.fromCodePoint(codePoint)).flatMap((character) =>
      [character.toUpperCase(), character.toLowerCase()]
        // Folding follows composition, which replaces U+1FBE, the only letter whose fold is defined for its canonical
        // form.
        .filter((other) => sameForRegExp(character, other) && character.normalize('NFC') === character)
        .filter((other) => foldCase(character) !== foldCase(other)),
    );
    expect(wrong).toEqual([]);
  });
});
