import { describe, expect, test } from 'vitest';
import { commonKeywordWarnings } from '../../../../services/api/monitors/common-keywords.ts';
import { findCommonKeyword } from '../../../../shared/matching/common-words.ts';

describe('very common keywords', () => {
  test.each([
    ['the', 40],
    ['THE', 40],
    [' ｔｈｅ ', 40],
    ['“the”', 40],
    ['__the__', 40],
    ['t\u200bhe', 40],
    ['IT', 30],
    ['US', 3],
    ['don’t', 7],
    ["Don't", 7],
    ['best', 3],
    ['look', 2],
  ])('%s is in about %d %% of all items', (keyword, percent) => {
    expect(findCommonKeyword(keyword)).toEqual({ percent });
  });

  test.each(['to be', 'What  if', 'I am', 'why not me'])('%s consists of common words', (keyword) => {
    expect(findCommonKeyword(keyword)).toEqual({ percent: undefined });
  });

  test.each([
    'rust',
    'theory',
    'the rust',
    'lot',
    'código',
    'the.com',
    '.the',
    '$it',
    '#the',
    'the, of',
    'C++',
    '🦀',
    '手机',
    'thé',
    '',
    '""',
  ])('%s is none', (keyword) => {
    expect(findCommonKeyword(keyword)).toBeUndefined();
  });
});

describe('warnings', () => {
  const everywhere = { subreddits: [] };
  const consequence = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';

  test('has a sentence for each common keyword, as it was written, and none for the others', () => {
    const keywords = ['rust', 'The', 'to be', 'borrow checker'];
    expect(commonKeywordWarnings({ ...everywhere, keywords }, 10_000)).toEqual([
      `"The" is in about 40 % of all items: ${consequence}`,
      `"to be" consists of very common words only: ${consequence}`,
    ]);
  });

  test('names the ceiling of the installation', () => {
    const [warning] = commonKeywordWarnings({ ...everywhere, keywords: ['the'] }, 250);
    expect(warning).toContain('at most 250 of those');
  });

  test('has none for a monitor of some communities', () => {
    expect(commonKeywordWarnings({ keywords: ['the'], subreddits: ['rust'] }, 10_000)).toEqual([]);
  });
});
