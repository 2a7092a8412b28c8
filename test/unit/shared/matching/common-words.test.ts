import { describe, expect, test } from 'vitest';
import { findCommonKeyword } from '../../../../shared/matching/common-words.ts';

describe('very common keywords', () => {
  test.each([
    ['the', 40],
    ['THE', 40],
    ['“the”', 40],
    ['__the__', 40],
    ['t\u200bhe', 40],
    ['IT', 30],
    ['don’t', 7],
    ['best', 3],
  ])('%s is in about %d %% of all items', (keyword, percent) => {
    expect(findCommonKeyword(keyword)).toEqual({ percent });
  });

  test.each(['to be', 'What  if', 'I am', 'why not me'])('%s consists of common words', (keyword) => {
    expect(findCommonKeyword(keyword)).toEqual({ percent: undefined });
  });

  test.each(['rust', 'theory', 'the rust', 'the.com', '.the', '#the', 'the, of', 'C++', '手机', 'thé', '', '""'])(
    '%s is none',
    (keyword) => {
      expect(findCommonKeyword(keyword)).toBeUndefined();
    },
  );
});
