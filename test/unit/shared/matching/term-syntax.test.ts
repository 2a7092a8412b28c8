import { describe, expect, test } from 'vitest';
import { TermSyntaxReader } from '../../../../shared/matching/term-syntax.ts';

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
