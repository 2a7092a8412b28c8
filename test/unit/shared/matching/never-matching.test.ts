import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchOne } from '../../../../shared/matching/monitor-index.ts';
import { excludedKeywords } from '../../../../shared/matching/never-matching.ts';
import { nastyTerm, textAround } from '../../../support/samples/matching-arbitraries.ts';

const ANYWHERE = { subreddits: [], posts: true, comments: true, nsfw: true };

describe('keywords that no item can match', () => {
  test.each([
    [['rust'], ['RUST'], [[0, 'RUST']]],
    [['new york'], ['york'], [[0, 'york']]],
    [['coffee', "rust's"], ['tea', 'rust'], [[1, 'rust']]],
    [['$TSLA'], ['tsla'], [[0, 'tsla']]],
    [['new-york'], ['new york'], [[0, 'new york']]],
    [['iPhone手机'], ['手机'], [[0, '手机']]],
    [['"rust book"'], ['rust', 'book'], [[0, 'rust']]],
    [['big apple city'], ['apple city', 'big apple'], [[0, 'apple city']]],
  ])('%j without %j', (keywords, exclude, expected) => {
    const found = excludedKeywords({ keywords, exclude });
    expect(found.map(({ position, excludedBy }) => [position, excludedBy])).toEqual(expected);
  });

  test.each([
    [['rust'], []],
    [['york'], ['new york']],
    [['trust'], ['rust']],
    [['rust'], ["rust's"]],
    [['C++'], ['c.']],
    // The text may have a hyphen where the keyword has a space, and then a second one follows the symbol.
    [['a- b'], ['a-']],
    [['new york'], ['new-york']],
    // Not searched in any text.
    [['[deleted]'], ['deleted']],
  ])('%j without %j can match', (keywords, exclude) => {
    expect(excludedKeywords({ keywords, exclude })).toEqual([]);
  });

  test('match no text, whatever surrounds them', () => {
    const part = (keyword: string) =>
      fc.tuple(fc.nat(keyword.length), fc.nat(keyword.length)).map(([from, to]) => keyword.slice(from, to));
    const scenes = nastyTerm.chain((keyword) =>
      fc.record({
        keyword: fc.constant(keyword),
        exclude: fc.array(fc.oneof(nastyTerm, part(keyword)), { minLength: 1, maxLength: 3 }),
        text: textAround([keyword], 6),
      }),
    );
    let excluded = 0;
    fc.assert(
      fc.property(scenes, ({ keyword, exclude, text }) => {
        if (excludedKeywords({ keywords: [keyword], exclude }).length === 0) return;
        const item = { kind: 'comment', title: '', text, subreddit: 'a', nsfw: false } as const;
        if (matchOne({ ...ANYWHERE, keywords: [keyword], exclude: [] }, item) !== undefined) excluded++;
        expect(matchOne({ ...ANYWHERE, keywords: [keyword], exclude }, item)).toBeUndefined();
      }),
      { numRuns: 3_000 },
    );
    expect(excluded).toBeGreaterThan(50);
  });
});
