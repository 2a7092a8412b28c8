import { describe, expect, test } from 'vitest';
import type { RuleTerm } from '../../../../shared/matching/rule.ts';
import {
  authorKey,
  normalizeAuthor,
  validateNames,
  validateRuleTerms,
  normalizeSubreddit,
  subredditKey,
  validateTerms,
} from '../../../../shared/matching/validate-rule.ts';

const fieldsOf = ({ faults }: { faults: readonly { field: string }[] }): string[] => faults.map(({ field }) => field);
const words = (count: number): string[] => Array.from({ length: count }, (_, number) => `word${number}`);

describe('rule 21: terms', () => {
  test.each([
    ['trimmed', [' rust ', '\tgo\u3000'], ['rust', 'go']],
    ['the shortest and the longest', ['ab', 'x'.repeat(100)], ['ab', 'x'.repeat(100)]],
    ['counted in code points', ['🦀🦀', '🦀'.repeat(100)], ['🦀🦀', '🦀'.repeat(100)]],
    ['equal after folding: the first spelling stays', ['Rust', 'RUST', '"rust"', 'ｒｕｓｔ', 'go'], ['Rust', 'go']],
    ['a hyphen and a space differ', ['new york', 'new-york', 'newyork'], ['new york', 'new-york', 'newyork']],
    ['accents differ', ['cafe', 'café', 'cafe\u0301'], ['cafe', 'café']],
    ['symbols', ['C++', 'C#', ':)', '手机', '👍🏽', '👍🏿'], ['C++', 'C#', ':)', '手机', '👍🏽']],
    ['an emoji', ['🦀', '❤', '👨‍👩‍👧', '🇺🇸'], ['🦀', '❤', '👨‍👩‍👧', '🇺🇸']],
    ['a possessive counts', ['Wendy’s', "wendy's", 'wendy'], ['Wendy’s', 'wendy']],
    ['twenty terms', words(20), words(20)],
  ])('%s', (_, written, kept) => {
    expect(validateTerms('keywords', written)).toEqual({ terms: kept, faults: [] });
  });

  test.each([
    ['empty', [''], ['keywords[0]']],
    ['one character', ['go', ' x '], ['keywords[1]']],
    ['one character of two code units', ['𠮷', '🇺'], ['keywords[0]', 'keywords[1]']],
    ['far too long', ['go', '🦀'.repeat(101), 'x'.repeat(1e6)], ['keywords[1]', 'keywords[2]']],
    ['nothing to match', ['""', '“ ”', '__', '&nbsp;'], [0, 1, 2, 3].map((k) => `keywords[${k}]`)],
    ['only invisible', ['\u200e\u2063', '\u3164\u3164', '\u034f\u180e'], [0, 1, 2].map((k) => `keywords[${k}]`)],
    ['too many', Array.from({ length: 21 }, () => 'rust'), ['keywords']],
    ['no term', [], ['keywords']],
  ])('%s', (_, written, fields) => {
    expect(fieldsOf(validateTerms('keywords', written))).toEqual(fields);
  });

  test('excludes may be empty, and their faults name the field exclude, beside what is valid', () => {
    expect(validateTerms('exclude', [])).toEqual({ terms: [], faults: [] });
    const validated = validateTerms('exclude', ['Go', '', 'go']);
    expect([validated.terms, fieldsOf(validated)]).toEqual([['Go'], ['exclude[1]']]);
    expect(fieldsOf(validateTerms('exclude', words(21)))).toEqual(['exclude']);
  });
});

describe('names of communities', () => {
  test.each([
    ['r/Rust', 'Rust'],
    ['/r/rust', 'rust'],
    [' R/rust_lang ', 'rust_lang'],
    ['a'.repeat(21), 'a'.repeat(21)],
    ['r/u_some-body', 'u_some-body'],
    [`u_${'a'.repeat(20)}`, `u_${'a'.repeat(20)}`],
  ])('%j is %j', (written, name) => {
    expect(normalizeSubreddit(written)).toBe(name);
  });

  test.each([
    ...['', 'r/', 'x', 'a'.repeat(22), 'some-body', 'r/r/rust', 'rust/', 'rüst', '//r/rust', 'a b', 'rust\nx'],
    `u_${'a'.repeat(21)}`,
  ])('%j is malformed', (written) => {
    expect(normalizeSubreddit(written)).toBeUndefined();
  });

  test('are compared without prefix and case', () => {
    expect(new Set(['r/Rust', '/r/rust', 'RUST', ' rust'].map(subredditKey))).toEqual(new Set(['rust']));
    expect(subredditKey('u_Rust')).toBe('u_rust');
  });
});

describe('terms', () => {
  test('another prefix, case or text is another term, where it makes a difference', () => {
    const differing: RuleTerm[] = [
      ...[{ text: 'rust' }, { text: 'rust', prefix: true }, { text: 'rust', in: ['title' as const] }],
      ...[
        { text: 'rust', caseSensitive: true },
        { text: 'Rust', caseSensitive: true },
      ],
      ...[{ text: 'ⓐⓑ' }, { text: 'ⓐⓑ', caseSensitive: true }, { text: '✓✓' }, { text: '咖啡' }],
      ...['don’t', 'rust_l', 'web3', 'жар'].map((text) => ({ text, prefix: true })),
    ];
    const equal: RuleTerm[] = [
      ...[
        { text: 'RUST', in: ['title' as const] },
        { text: 'RUST', prefix: true },
      ],
      ...[
        { text: '✓✓', caseSensitive: true },
        { text: '咖啡', caseSensitive: true },
      ],
    ];
    expect(validateRuleTerms([...differing, ...equal])).toEqual({ terms: differing, faults: [] });
  });
});

describe('names of accounts', () => {
  test.each([
    ['AutoModerator', 'AutoModerator'],
    ['u/some-body', 'some-body'],
    ['/u/Some_Body', 'Some_Body'],
    [' U/x ', 'x'],
    ['a'.repeat(20), 'a'.repeat(20)],
  ])('%j is %j', (written, name) => {
    expect(normalizeAuthor(written)).toBe(name);
  });

  test.each(['', 'u/', '[deleted]', 'u/[deleted]', 'a'.repeat(21), 'a b', 'u/u/a', 'ä', 'a/'])(
    '%j is malformed',
    (written) => {
      expect(normalizeAuthor(written)).toBeUndefined();
    },
  );

  test('are compared without prefix and case, and listed once', () => {
    expect(new Set(['u/Rust', '/u/rust', 'RUST', ' rust'].map(authorKey))).toEqual(new Set(['rust']));
    expect(validateNames('authors', ['u/One', 'ONE', 'two'])).toEqual({ names: ['One', 'two'], faults: [] });
  });
});
