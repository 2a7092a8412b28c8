import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchableWords } from '../../../../shared/matching/searchable-words.ts';
import { TermFinder } from '../../../../shared/matching/terms/term-finder.ts';
import { nastyTerm, nastyText } from '../../../support/samples/matching-arbitraries.ts';

describe('searchableWords', () => {
  test.each([
    ['The quick, QUICK fox', ['the', 'quick', 'fox']],
    ["Rust’s don't rust_lang e-mail C++", ['rust', "don't", 'rust_lang', 'e', 'mail', 'c']],
    ['我用Rust写 &amp; ｗｉｄｅ', ['我', '用', 'rust', '写', 'wide']],
    ['🦀 -- !', []],
    ['', []],
  ])('%s', (text, words) => {
    expect(searchableWords(text)).toEqual(words);
  });

  test('a text in which a term occurs has all searchable words of the term', () => {
    fc.assert(
      fc.property(nastyText(12), nastyTerm, nastyText(12), (before, term, after) => {
        const text = `${before} ${term} ${after}`;
        if (!new TermFinder([term]).allOccurIn(text)) return;
        const words = new Set(searchableWords(text));
        expect(searchableWords(term).filter((word) => !words.has(word))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});
