import { describe, expect, test } from 'vitest';
import { commonKeywordWarnings } from '../../../../../services/api/monitors/common-keywords.ts';

describe('warnings of common keywords', () => {
  const everywhere = { subreddits: [] };
  const consequence = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';

  test('return a sentence for each common keyword, as written, and none for other keywords', () => {
    const keywords = ['rust', 'The', 'to be', 'borrow checker'];
    expect(commonKeywordWarnings({ ...everywhere, keywords }, 10_000)).toEqual([
      `"The" is in about 40 % of all items: ${consequence}`,
      `"to be" consists of very common words only: ${consequence}`,
    ]);
  });

  test('name the ceiling of the installation', () => {
    const [warning] = commonKeywordWarnings({ ...everywhere, keywords: ['the'] }, 250);
    expect(warning).toContain('at most 250 of those');
  });

  test('are empty for a monitor of some communities', () => {
    expect(commonKeywordWarnings({ keywords: ['the'], subreddits: ['rust'] }, 10_000)).toEqual([]);
  });
});
