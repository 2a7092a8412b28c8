import { describe, expect, test } from 'vitest';
import { searchTerms } from '../../../../../services/api/reading/search-terms.ts';

describe('searchTerms', () => {
  test.each([
    ['quick fox', ['quick', 'fox']],
    ['"quick brown" fox', ['quick brown', 'fox']],
    ['fox "quick brown', ['fox', 'quick brown']],
    ['“new york” «a b» 「c d」', ['new york', 'a b', 'c d']],
    ['x x "x"', ['x']],
    ['""  " "', []],
  ])('%s', (q, terms) => {
    expect(searchTerms(q)).toEqual(terms);
  });
});
