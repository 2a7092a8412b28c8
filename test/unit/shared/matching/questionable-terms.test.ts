import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchOne } from '../../../../shared/matching/monitor-index.ts';
import {
  excludedKeywords,
  findCommonKeyword,
  TermSyntaxReader,
} from '../../../../shared/matching/questionable-terms.ts';
import { nastyTerm, textAround } from '../../../support/samples/matching-arbitraries.ts';

const reader = new TermSyntaxReader();

describe('syntax of other searches in a term', () => {
  test.each([
    ['rust OR go', 'operator', 'OR'],
    ['rust  AND  go', 'operator', 'AND'],
    ['rust NOT game', 'operator', 'NOT'],
    ['NOT rust', 'operator', 'NOT'],
    ['咖啡 OR 茶', 'operator', 'OR'],
    ['rust | go', 'operator', '|'],
    ['rust||go', 'operator', '|'],
    ['ｒｕｓｔ｜ｇｏ', 'operator', '｜'],
    ['title:rust', 'field', 'title'],
    ['Title:rust', 'field', 'Title'],
    ['rust author:somebody', 'field', 'author'],
    ['site:example.com', 'field', 'site'],
    ['title:咖啡', 'field', 'title'],
    ['rust*', 'wildcard', '*'],
    ['*rust', 'wildcard', '*'],
    ['r*st', 'wildcard', '*'],
    ['new york*', 'wildcard', '*'],
    ['rust\\*', 'wildcard', '\\*'],
    ['手机*', 'wildcard', '*'],
    ['"new york"', 'quotes', 'new york'],
    ['“new york”', 'quotes', 'new york'],
    ["'new york'", 'quotes', 'new york'],
    [' _"new york"_ ', 'quotes', 'new york'],
  ])('%s has the %s %s', (term, kind, written) => {
    expect(reader.find(term)).toEqual([{ kind, written }]);
  });

  test.each([
    ...['rust or go', 'OR', 'OR gate', 'XOR', 'rust AND', 'AND1', 'AT&T', 'R&D', 'ORacle OR_1', '|'],
    ...['title', 'title: rust', 'subtitle:rust', 'ratio 1:2', 'my-title:rust', 'http://example.com', 'std::vec'],
    ...['*', 'a * b', 'f**k', '**bold**', '* * *', 'C++', 'rust?'],
    ...['"rust"', '"new york', 'new york"', 'the "new york" times', "new york's", "'90s music", '_new york_', '""'],
  ])('%s has none', (term) => {
    expect(reader.find(term)).toEqual([]);
  });

  test('is found once of each kind', () => {
    const found = reader.find('"title:rust* OR text:go* OR x"').map(({ kind }) => kind);
    expect(found).toEqual(['operator', 'field', 'wildcard', 'quotes']);
  });
});

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
