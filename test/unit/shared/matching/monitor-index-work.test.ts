import { describe, expect, test } from 'vitest';
import { explain } from '../../../../shared/matching/explain.ts';
import { matchOne, MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule, RuleTerm } from '../../../../shared/matching/rule.ts';

const ANY: Omit<Rule, 'keywords'> = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
const watch = (...keywords: string[]): Rule => ({ ...ANY, keywords });
const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });

const MEGABYTE = 1_000_000;
/** The limits of the product. */
const LONGEST = 100;
const KEYWORDS = 20;

/** Steps per code unit: reading it, cutting it off as a token, and a step and a failure link in each automaton. */
const LINEAR = 7;
/** A phrase may be followed from each of its words. A word and the separator after it take two code units. */
const PHRASES = LINEAR + LONGEST / 4;
/** Keywords that are suffixes of each other and may not begin where they do are checked one by one at each end. */
const NESTED = 64;
/** In the first scan after a change, the links of a whole path may be computed for each code unit. */
const FIRST_SCAN = LINEAR + LONGEST;
/** For each found keyword and each monitor that has it. */
const EACH_PAIR = 8;

const repeated = (period: string, length: number): string =>
  period.repeat(Math.ceil(length / period.length)).slice(0, length);
/** A fixed pseudo-random sequence of numbers below `count` (Park and Miller, 1988). */
function sequence(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (state * 48271) % 0x7fffffff;
    return state % count;
  };
}

/** All keywords of 2 to 100 characters that occur in a text of this period, except those that end with spaces. */
function nested(period: string): string[] {
  const characters = Array.from(period);
  const keywords = new Set<string>();
  for (let start = 0; start < characters.length; start++) {
    let keyword = characters[start] ?? '';
    for (let length = 2; length <= LONGEST; length++) {
      keyword += characters[(start + length - 1) % characters.length] ?? '';
      if (keyword.trim() === keyword) keywords.add(keyword);
    }
  }
  return [...keywords];
}

function indexOf(terms: readonly (string | RuleTerm)[]): MonitorIndex {
  const index = new MonitorIndex();
  for (let first = 0; first < terms.length; first += KEYWORDS) {
    const some = terms.slice(first, first + KEYWORDS).map((term) => (typeof term === 'string' ? { text: term } : term));
    index.set(String(first), { ...ANY, keywords: [], terms: some });
  }
  return index;
}

interface Work {
  pairs: number;
  /** Steps per code unit, beyond those for pairs: at the first scan after a change, and at the next. */
  first: number;
  next: number;
}

function workOf(index: MonitorIndex, text: string): Work {
  const scan = (): { pairs: number; work: number } => {
    const pairs = index.match(comment(text)).reduce((sum, { matchedTerms }) => sum + matchedTerms.length, 0);
    expect(index.steps).toBeGreaterThanOrEqual(text.length);
    return { pairs, work: (index.steps - EACH_PAIR * pairs) / (text.length + LONGEST) };
  };
  const first = scan();
  const next = scan();
  expect(next.pairs).toBe(first.pairs);
  return { pairs: first.pairs, first: first.work, next: next.work };
}

describe('the work is linear in the text, whatever the keywords', () => {
  test.each([
    ['!?', LINEAR],
    ['手 ', LINEAR],
    ['𠮷', LINEAR],
    ["a's ", PHRASES],
    ['ab c ', PHRASES],
    ['a -', LINEAR],
  ] as const)('keywords that hold each other, all found: %j', (period, most) => {
    const { pairs, first, next } = workOf(indexOf(nested(period)), repeated(period, 30_000));
    expect(pairs).toBeGreaterThan(0);
    expect(Math.max(first, next)).toBeLessThan(most);
  });

  test.each(['a-', '手++', 'a+-', 'c# '])(
    'keywords that hold each other, forbidden by their neighbours: %j',
    (period) => {
      const { first, next } = workOf(indexOf(nested(period)), repeated(period, 8000));
      expect(Math.max(first, next)).toBeLessThan(NESTED);
    },
  );

  test.each([
    ['a', 'a'.repeat(99)],
    ['手', `${'手'.repeat(99)}机`],
    ['a.', `${'a.'.repeat(49)}b`],
    ['a ', `${'a '.repeat(49)}b`],
  ])('a keyword and its suffixes, which a text never ends: %j', (period, keyword) => {
    const suffixes = Array.from({ length: keyword.length - 1 }, (_, start) => keyword.slice(start)).filter(
      (suffix) => suffix.trim() === suffix && suffix.isWellFormed(),
    );
    for (const length of [1000, 60_000]) {
      const { pairs, first, next } = workOf(indexOf(suffixes), repeated(period, length));
      expect(pairs).toBe(0);
      expect(Math.max(first, next)).toBeLessThan(PHRASES);
    }
  });

  test.each([
    (number: number) => `rust.word${number}`,
    (number: number) => `rust word${number}`,
    (number: number) => `x${number} c++`,
    (number: number) => `手${number}`,
  ])('ten thousand keywords like %s', (keywordOf) => {
    const index = indexOf(Array.from({ length: 10_000 }, (_, number) => keywordOf(number)));
    for (const period of ['rust.', 'rust-', 'c++ ', '手', `${keywordOf(7)}, `, `${keywordOf(7)}x `]) {
      const { first, next } = workOf(index, repeated(period, 20_000));
      expect(Math.max(first, next)).toBeLessThan(LINEAR);
    }
  });

  test('all suffixes of many long keywords, whose links the first scan after each change computes', () => {
    const pick = sequence(7);
    const index = new MonitorIndex();
    let text = '';
    for (let number = 0; number < 25; number++) {
      const whole = Array.from({ length: LONGEST }, () => String.fromCharCode(0x4e00 + pick(20_000))).join('');
      for (let start = 0; start < LONGEST - 1; start++) index.set(`${number} ${start}`, watch(whole.slice(start)));
      text += `${whole.slice(0, -1)}!`;
    }
    const before = workOf(index, text);
    expect(before.first).toBeLessThan(FIRST_SCAN);
    expect(before.next).toBeLessThan(LINEAR);
    // Links are computed once after a change, and not again without one.
    index.set('one more', watch('手机'));
    const after = workOf(index, text);
    expect(after.first).toBe(before.first);
    expect(after.next).toBe(before.next);
  });

  test('all spellings of a word in upper and lower case cost as much as one', () => {
    const word = 'abcdefghijk.l';
    const spellings = Array.from({ length: 2 ** word.length }, (_, bits) =>
      Array.from(word, (letter, position) => ((bits >> position) & 1 ? letter.toUpperCase() : letter)).join(''),
    );
    const terms = [...new Set(spellings)].map((text) => ({ text, caseSensitive: true }));
    const text = repeated(`${word.toUpperCase()}. `, 20_000);
    const all = workOf(indexOf(terms), text);
    expect(all.pairs).toBe(1);
    expect(all.next).toBeLessThan(workOf(indexOf([{ text: word, caseSensitive: true }]), text).next + 5);
  });

  test.each([{}, { caseSensitive: true }])('prefixes that continue each other: %j', (options) => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'.repeat(4).slice(0, LONGEST);
    const lengths = Array.from({ length: LONGEST - 2 }, (_, number) => number + 3);
    for (const stem of [letters, 'a'.repeat(LONGEST)]) {
      const index = indexOf(lengths.map((length) => ({ text: stem.slice(0, length), prefix: true, ...options })));
      for (const text of [`${stem} `, `${stem.slice(0, 30)} `, stem, `${stem.slice(0, 99)}!`]) {
        expect(workOf(index, repeated(text, 30_000)).next).toBeLessThan(NESTED);
      }
    }
  });

  test('phrases and sequences whose words match in another case', () => {
    for (const period of ['a ', 'a.']) {
      const nestedTerms = Array.from({ length: 50 }, (_, count) => period.repeat(count + 1).trim());
      const cased = nestedTerms.map((text) => ({
        text: text.replace(/a\.?$/, (end) => end.toUpperCase()),
        caseSensitive: true,
      }));
      for (const written of [period, period.toUpperCase()]) {
        expect(workOf(indexOf(cased), repeated(written, 20_000)).next).toBeLessThan(NESTED);
      }
    }
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
});

describe('any UTF-16 text gets an answer and leaves the index usable', () => {
  const units = (count: number, unitOf: (index: number) => number): string =>
    Buffer.from(Uint16Array.from({ length: count }, (_, index) => unitOf(index)).buffer).toString('utf16le');
  const pick = sequence(3);

  test.each([
    ['all units backwards', units(0x10000, (index) => 0xffff - index)],
    ['each unit after a letter', units(0x20000, (index) => (index % 2 === 0 ? 0x61 : index >> 1))],
    ['a megabyte of random units', units(MEGABYTE, () => pick(0x10000))],
    ['random surrogates', units(20_000, () => 0xd800 + pick(0x800))],
    ['random units of escapes', units(100_000, () => '&#x;0\\_ap'.charCodeAt(pick(9)))],
    ['half entities', '&#'.repeat(MEGABYTE / 2)],
    ['zero-width spaces after Thai', `ก${'\u200b'.repeat(MEGABYTE)}`],
    ['underscores in a word', `a${'_'.repeat(MEGABYTE)}b`],
  ])('%s', (_, text) => {
    const index = indexOf(['rust', 'new york', 'c++ dev', '手机', '+', '\ud83d', '\u0301', 'e-mail', 'ab']);
    const before = index.match(comment('rust, 手机'));
    index.match(comment(text));
    index.match({ ...comment(text), kind: 'post', title: text.slice(0, 1000) });
    index.set('of the text', watch(text.slice(0, 100), text.slice(-100), text.slice(0, 3000)));
    index.match(comment(text));
    index.remove('of the text');
    expect(index.match(comment('rust, 手机'))).toEqual(before);
    explain(watch(text.slice(0, 200)), comment(text.slice(0, 2000)));
  });

  test.each([
    ['a word', 'a'.repeat(MEGABYTE)],
    ['words', Array.from({ length: 50_000 }, (_, number) => number).join(' ')],
    ['ideographs', units(20_000, (index) => 0x4e00 + (index % 20_000))],
  ])('a keyword as long as a text: %s', (_, keyword) => {
    expect(matchOne(watch(keyword, keyword), comment(`. ${keyword} .`))).toEqual([keyword]);
    expect(matchOne(watch(keyword), comment(`${keyword.slice(0, -3)}x`))).toBeUndefined();
    expect(matchOne({ ...watch('rust'), exclude: [keyword] }, comment(`rust ${keyword}`))).toBeUndefined();
  });
});
