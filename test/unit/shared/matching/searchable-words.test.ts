import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchableWords, wordsOfText } from '../../../../shared/matching/searchable-words.ts';
import { TermFinder } from '../../../../shared/matching/terms/term-index.ts';
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

  test('a word after an elided one is a word of a text by itself too', () => {
    const text = "L'IA d'Apple, l'ia, ia d's";
    expect(wordsOfText(text)).toEqual(["l'ia", 'ia', "d'apple", 'apple', 'd']);
    expect(searchableWords(text)).toEqual(["l'ia", "d'apple", 'ia', 'd']);
  });

  test('characters that are chosen to share slots of a table take no longer than others', () => {
    const characters = (first: number) => Array.from({ length: 20_000 }, (_, at) => String.fromCodePoint(first + at));
    // Both blocks have the same lower 17 bits, and the blocks of the other text do not.
    const [chosen, others] = [
      [...characters(0x4e00), ...characters(0x24e00)],
      [...characters(0x4e00), ...characters(0x20000)],
    ];
    const timeOf = (text: string) => {
      const begun = process.cpuUsage();
      searchableWords(text);
      const { user, system } = process.cpuUsage(begun);
      return user + system;
    };
    expect(searchableWords(chosen.join(''))).toEqual(chosen);
    expect(searchableWords(others.join(''))).toEqual(others);
    // Were each compared with half of the others, it would be hundreds of times as long.
    expect(timeOf(chosen.join(''))).toBeLessThan(8 * timeOf(others.join('')) + 50_000);
  });

  test('a text in which a term occurs has all searchable words of the term', () => {
    fc.assert(
      fc.property(nastyText(12), nastyTerm, nastyText(12), (before, term, after) => {
        const text = `${before} ${term} ${after}`;
        if (!new TermFinder([term]).allOccurIn(text)) return;
        const words = new Set(wordsOfText(text));
        expect(searchableWords(term).filter((word) => !words.has(word))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});
