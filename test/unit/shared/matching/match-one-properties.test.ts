import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fold } from '../../../support/oracles/reference-fold.ts';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import type { MonitorMatchResult } from '../../../../shared/matching/monitor-index.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { naiveFold, naiveSearch } from '../../../support/oracles/naive-matcher.ts';

/** Few letters, so that keywords occur in texts, and all characters with special rules. */
const NASTY = [
  ...['a', 'b', 's', 'A', 'K', '\u212a', 'i', 'I', 'İ', 'ı', 'ß', 'ẞ', 'σ', 'ς', 'Σ', 'ſ', '2', '²', '𝗮', 'ａ', 'ﬁ'],
  ...['e', 'é', '\u0301', '\u0307', '\u0331', 'H', '\u20e3', "'", '’', "'s", "'", '_', '_', '-', '-', '‑', '–'],
  ...[' ', ' ', ' ', '\t', '\n', '\u00a0', '\u3000', '\u200b', '\u200d', '\u00ad', '\ufe0f', '\ufeff'],
  ...['+', '+', '#', '.', '$', '"', '“', '(', '/', '&', ';', '&amp;', '&#39;', '&#x200B;', '\\', '\\_', '™'],
  ...[
    '手',
    '机',
    'ひ',
    'カ',
    'ｶ',
    'ﾞ',
    'ー',
    '・',
    '한',
    '\u1100',
    '\u1161',
    'ก',
    'ั',
    '🦀',
    '👍',
    '🏽',
    '🇩',
    '\ud83d',
    '\ude00',
  ],
];
const PLAIN = ['a', 'b', 'c', 's', 'A', ' ', ' ', ' ', '\n', '-', '-', "'", "'s", '_', '.', ',', '+', '#'];

const textOver = (alphabet: readonly string[], maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...alphabet), { maxLength }).map((parts) => parts.join(''));

/** Nasty keywords and some with common prefixes, so that rules share words and phrases and changes interact. */
const nastyTerm = fc.oneof(
  textOver(NASTY, 5),
  fc.constantFrom('a', 'a b', 'a b a', 'a-b', 'b a', '手', '手机', 'a+', 'a++', '+', '🦀', 'A'),
);
const nastyRule: fc.Arbitrary<Rule> = fc.record({
  keywords: fc.array(nastyTerm, { maxLength: 4 }),
  exclude: fc.array(nastyTerm, { maxLength: 2 }),
  subreddits: fc.subarray(['r/a', 'B']),
  posts: fc.boolean(),
  comments: fc.boolean(),
  nsfw: fc.boolean(),
});
const nastyItem: fc.Arbitrary<MatchItem> = fc.record({
  kind: fc.constantFrom('post', 'comment'),
  title: textOver(NASTY, 12),
  text: textOver(NASTY, 30),
  subreddit: fc.constantFrom('a', 'A', 'b', 'c'),
  nsfw: fc.boolean(),
});

const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });
const watch = (...keywords: string[]): Rule => ({
  keywords,
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: true,
});
const sorted = (results: MonitorMatchResult[]): MonitorMatchResult[] =>
  results.sort((one, other) => (one.monitorId < other.monitorId ? -1 : 1));

describe('hostile texts', () => {
  test('never throws on any UTF-16', () => {
    const anyText = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(fc.oneof(anyText, textOver(NASTY, 50)), fc.oneof(anyText, nastyTerm), (text, keyword) => {
        matchOne(watch(keyword), comment(text));
      }),
      { numRuns: 1000 },
    );
  });

  test('folding a second time changes only what escapes had hidden', () => {
    const unescaped = NASTY.filter((part) => !part.includes('&') && !part.includes('\\'));
    fc.assert(
      fc.property(textOver(unescaped, 20), (text) => {
        expect(fold(fold(text))).toBe(fold(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('canonically equal texts match alike', () => {
    fc.assert(
      fc.property(textOver(NASTY, 20), (text) => {
        expect(fold(text.normalize('NFD'))).toBe(fold(text.normalize('NFC')));
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    ['one word of a megabyte', 'a'.repeat(1e6), ['a'.repeat(100), 'aa']],
    ['underscores', 'a' + '_'.repeat(1e6) + 'b', ['ab', 'a_b']],
    ['words of apostrophes', "a'".repeat(5e5), ["a'a", 'aa']],
    ['words of one letter', 'a '.repeat(1e5), ['a a a b', `${'a '.repeat(49)}b`]],
    ['hyphens between them', 'a-'.repeat(1e5), ['a a-a b', `${'a '.repeat(20)}b`]],
    ['symbols', '+'.repeat(2e5), ['+'.repeat(100) + '-', '+a']],
    ['ideographs', '手'.repeat(2e5), ['手'.repeat(99) + '机']],
    ['whitespace', ' \n'.repeat(5e5), ['a b']],
    ['half entities', '&#'.repeat(5e5), ['&#;;']],
    ['combining marks', '\u0301'.repeat(1e5), ['\u0301\u0301']],
    ['zero-width spaces after Thai', 'ก' + '\u200b'.repeat(1e6), ['กข']],
    ['lone surrogates', '\ud83d'.repeat(1e6), ['\ud83d\ude00a']],
  ])('%s does not match and does not take long', (_, text, keywords) => {
    expect(matchOne(watch(...keywords), comment(text))).toBeUndefined();
  });

  test('keywords that differ only in hyphens do not multiply the paths through a text of hyphens', () => {
    const index = new MonitorIndex();
    for (let gaps = 0; gaps < 4096; gaps++) {
      const phrase = Array.from({ length: 12 }, (_, bit) => ((gaps >> bit) & 1 ? 'a-' : 'a ')).join('');
      index.set(String(gaps), watch(`${phrase}z`));
    }
    expect(index.match(comment('a-'.repeat(20_000)))).toEqual([]);
    expect(index.match(comment(`${'a-'.repeat(12)}z`))).toHaveLength(4096);
    expect(index.match(comment(`${'a '.repeat(12)}z`))).toHaveLength(1);
  });

  test('ten thousand keywords with a common prefix do not slow down a text with that prefix', () => {
    const index = new MonitorIndex();
    for (let k = 0; k < 10_000; k++) index.set(`monitor ${k}`, watch(`rust word${k}`, `rust.word${k}`, `手机${k}`));
    expect(index.match(comment('rust word '.repeat(20_000)))).toEqual([]);
    expect(index.match(comment('rust word77'))).toHaveLength(1);
  });
});

describe('equivalent computations', () => {
  test('an index of many rules matches like each rule alone', () => {
    fc.assert(
      fc.property(fc.array(nastyRule, { maxLength: 8 }), nastyItem, (rules, item) => {
        const index = new MonitorIndex();
        rules.forEach((rule, position) => index.set(String(position), rule));
        const alone = rules.flatMap((rule, position) => {
          const one = new MonitorIndex();
          one.set(String(position), rule);
          return one.match(item);
        });
        expect(sorted(index.match(item))).toEqual(sorted(alone));
      }),
      { numRuns: 2000 },
    );
  });

  test('an index after any sequence of changes matches like a fresh index', () => {
    const change = fc.record({ id: fc.constantFrom('1', '2', '3', '4', '5'), rule: fc.option(nastyRule) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), fc.array(nastyItem, { maxLength: 5 }), (changes, items) => {
        const changed = new MonitorIndex();
        const last = new Map<string, Rule>();
        for (const { id, rule } of changes) {
          if (rule === null) {
            changed.remove(id);
            last.delete(id);
          } else {
            changed.set(id, rule);
            last.set(id, rule);
          }
        }
        const fresh = new MonitorIndex();
        for (const [id, rule] of last) fresh.set(id, rule);
        expect(changed.size).toBe(last.size);
        for (const item of items) expect(sorted(changed.match(item))).toEqual(sorted(fresh.match(item)));
      }),
      { numRuns: 1000 },
    );
  });

  test('a regular expression per keyword agrees on folded texts of the nasty alphabet', () => {
    let matches = 0;
    fc.assert(
      fc.property(
        nastyTerm,
        textOver(NASTY, 10),
        textOver(NASTY, 10),
        fc.boolean(),
        (keyword, before, after, planted) => {
          const text = planted ? before + keyword + after : before + after;
          const expected = naiveSearch(fold(keyword))(fold(text));
          if (expected) matches++;
          expect(matchOne(watch(keyword), comment(text)) !== undefined).toBe(expected);
        },
      ),
      { numRuns: 5000 },
    );
    expect(matches).toBeGreaterThan(500);
  });

  test('a regular expression per keyword with its own folding agrees on plain words and phrases', () => {
    let matches = 0;
    const term = textOver(['a', 'b', 's', 'C', ' ', "'"], 6);
    fc.assert(
      fc.property(term, textOver(PLAIN, 20), textOver(PLAIN, 20), fc.boolean(), (keyword, before, after, planted) => {
        const text = planted ? before + keyword + after : before + after;
        const expected = naiveSearch(naiveFold(keyword))(naiveFold(text));
        if (expected) matches++;
        expect(matchOne(watch(keyword), comment(text)) !== undefined).toBe(expected);
      }),
      { numRuns: 5000 },
    );
    expect(matches).toBeGreaterThan(500);
  });

  test('lower-case words between spaces match like \\b', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(word, fc.array(word, { maxLength: 20 }), (keyword, words) => {
        const text = words.join(' ');
        expect(matchOne(watch(keyword), comment(text)) !== undefined).toBe(new RegExp(`\\b${keyword}\\b`).test(text));
      }),
      { numRuns: 1000 },
    );
  });
});
