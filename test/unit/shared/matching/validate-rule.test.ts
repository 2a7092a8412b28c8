import { describe, expect, test } from 'vitest';
import { normalizeSubreddit, subredditKey, validateTerms } from '../../../../shared/matching/validate-rule.ts';

const LENGTH = 'must have 2 to 100 characters, not counting spaces around it';
const NOTHING = 'has nothing to search for: it consists only of spaces, quotes, underscores or invisible characters';

describe('rule 21: terms', () => {
  test.each([
    ['trimmed', [' rust ', '\tgo\u3000'], ['rust', 'go']],
    ['the shortest and the longest', ['ab', 'x'.repeat(100)], ['ab', 'x'.repeat(100)]],
    ['counted in code points', ['🦀🦀', '🦀'.repeat(100)], ['🦀🦀', '🦀'.repeat(100)]],
    ['equal after folding: the first spelling stays', ['Rust', 'RUST', '"rust"', 'ｒｕｓｔ', 'go'], ['Rust', 'go']],
    ['also for phrases', ['New  York', 'new york', 'new\tYORK'], ['New  York']],
    ['a hyphen and a space differ', ['new york', 'new-york', 'newyork'], ['new york', 'new-york', 'newyork']],
    ['accents differ', ['cafe', 'café', 'cafe\u0301'], ['cafe', 'café']],
    ['symbols', ['C++', 'C#', ':)', '手机', '👍🏽', '👍🏿'], ['C++', 'C#', ':)', '手机', '👍🏽']],
    ['a possessive counts', ['Wendy’s', "wendy's", 'wendy'], ['Wendy’s', 'wendy']],
    [
      'twenty terms',
      Array.from({ length: 20 }, (_, k) => `word${k}`),
      Array.from({ length: 20 }, (_, k) => `word${k}`),
    ],
  ])('%s', (_, written, kept) => {
    expect(validateTerms('keywords', written)).toEqual({ terms: kept, faults: [] });
  });

  test.each([
    ['empty', [''], [{ field: 'keywords[0]', message: LENGTH }]],
    ['one character', ['go', ' x '], [{ field: 'keywords[1]', message: LENGTH }]],
    ['one character of two code units', ['🦀'], [{ field: 'keywords[0]', message: LENGTH }]],
    ['too long', ['x'.repeat(101)], [{ field: 'keywords[0]', message: LENGTH }]],
    [
      'far too long terms',
      ['go', '🦀'.repeat(101), 'x'.repeat(1e6)],
      [
        { field: 'keywords[1]', message: LENGTH },
        { field: 'keywords[2]', message: LENGTH },
      ],
    ],
    [
      'nothing to search for',
      ['""', '\u200b\u200b', '“ ”', '__', '&nbsp;'],
      [0, 1, 2, 3, 4].map((k) => ({ field: `keywords[${k}]`, message: NOTHING })),
    ],
    [
      'too many',
      Array.from({ length: 21 }, () => 'rust'),
      [{ field: 'keywords', message: 'must have at most 20 terms' }],
    ],
    ['no term', [], [{ field: 'keywords', message: 'must have at least one term' }]],
  ])('%s', (_, written, faults) => {
    expect(validateTerms('keywords', written).faults).toEqual(faults);
  });

  test('excludes may be empty, and their faults name the field exclude', () => {
    expect(validateTerms('exclude', [])).toEqual({ terms: [], faults: [] });
    expect(validateTerms('exclude', ['go', '']).faults).toEqual([{ field: 'exclude[1]', message: LENGTH }]);
    expect(
      validateTerms(
        'exclude',
        Array.from({ length: 21 }, (__, k) => `w${k}`),
      ).faults,
    ).toHaveLength(1);
  });

  test('valid terms are returned together with the faults', () => {
    expect(validateTerms('keywords', ['Go', 'x', 'go']).terms).toEqual(['Go']);
  });
});

describe('names of communities', () => {
  test.each([
    ['rust', 'rust'],
    ['r/Rust', 'Rust'],
    ['/r/rust', 'rust'],
    [' R/rust_lang ', 'rust_lang'],
    ['x2', 'x2'],
    ['a'.repeat(21), 'a'.repeat(21)],
    ['r/u_some-body', 'u_some-body'],
    [`u_${'a'.repeat(20)}`, `u_${'a'.repeat(20)}`],
  ])('%j is %j', (written, name) => {
    expect(normalizeSubreddit(written)).toBe(name);
  });

  test.each([
    '',
    'r/',
    'x',
    'a'.repeat(22),
    'some-body',
    'r/r/rust',
    'rust/',
    'r /rust',
    'rüst',
    '//r/rust',
    `u_${'a'.repeat(21)}`,
    'a b',
    'rust\nx',
  ])('%j is malformed', (written) => {
    expect(normalizeSubreddit(written)).toBeUndefined();
  });

  test('are compared without prefix and case', () => {
    expect(new Set(['r/Rust', '/r/rust', 'RUST', ' rust'].map(subredditKey))).toEqual(new Set(['rust']));
    expect(subredditKey('u_Rust')).toBe('u_rust');
  });
});
