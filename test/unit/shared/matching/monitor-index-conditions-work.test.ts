import { describe, expect, test } from 'vitest';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule, RuleTerm } from '../../../../shared/matching/rule.ts';

const ANY: Rule = { keywords: [], exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
const comment = (text: string, title = ''): MatchItem => ({
  kind: 'comment',
  title,
  text,
  subreddit: 'a',
  nsfw: false,
});

/** The limits of the product. */
const LONGEST = 100;
const KEYWORDS = 20;
/** The bound of the README: steps per code unit of the texts, and for each found term and monitor that has it. */
const EACH_UNIT = 64;
const EACH_PAIR = 8;

function indexOf(terms: readonly RuleTerm[]): MonitorIndex {
  const index = new MonitorIndex();
  for (let first = 0; first < terms.length; first += KEYWORDS) {
    index.set(String(first), { ...ANY, terms: terms.slice(first, first + KEYWORDS) });
  }
  return index;
}

const repeated = (period: string, length: number): string =>
  period.repeat(Math.ceil(length / period.length)).slice(0, length);

/** Steps per code unit, beyond those for the pairs of terms and monitors that match. */
function workOf(index: MonitorIndex, text: string): number {
  const pairs = index.match(comment(text)).reduce((sum, { matchedTerms }) => sum + matchedTerms.length, 0);
  expect(index.steps).toBeGreaterThanOrEqual(text.length);
  return (index.steps - EACH_PAIR * pairs) / (text.length + LONGEST);
}

/** All spellings of a word in upper and lower case. */
function spellings(word: string): string[] {
  const all = Array.from({ length: 2 ** word.length }, (_, bits) =>
    Array.from(word, (letter, position) => ((bits >> position) & 1 ? letter.toUpperCase() : letter)).join(''),
  );
  return [...new Set(all)];
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.repeat(4).slice(0, LONGEST);

describe('the work is linear in the text', () => {
  test.each(['abcdefghijkl', 'abcdefghijk l', 'abcdefghijk.l'])('with all spellings of %j', (word) => {
    const terms = spellings(word).map((text) => ({ text, caseSensitive: true }));
    const index = indexOf(terms);
    for (const text of [repeated(`${word} `, 20_000), repeated(`${word.toUpperCase()}. `, 20_000)]) {
      expect(index.match(comment(text)).flatMap(({ matchedTerms }) => matchedTerms)).toHaveLength(1);
      // The same as for one spelling.
      const one = indexOf([{ text: word, caseSensitive: true }]);
      expect(workOf(index, text)).toBeLessThan(workOf(one, text) + 5);
      expect(workOf(index, text)).toBeLessThan(EACH_UNIT / 3);
    }
    const all = terms.map(({ text }) => text).join(' , ');
    expect(index.match(comment(all)).flatMap(({ matchedTerms }) => matchedTerms)).toHaveLength(terms.length);
    expect(workOf(index, all)).toBeLessThan(EACH_UNIT / 3);
  });

  test.each([
    ['in any case', {}],
    ['as written', { caseSensitive: true }],
  ])('with prefixes that continue each other, %s', (_, options) => {
    const lengths = Array.from({ length: LONGEST - 2 }, (__, number) => number + 3);
    const prefixes = lengths.map((length) => LETTERS.slice(0, length));
    for (const word of [LETTERS, LETTERS.slice(0, 30), 'a'.repeat(LONGEST), `${LETTERS.slice(0, 99)}!`]) {
      for (const terms of [prefixes, lengths.map((length) => 'a'.repeat(length))]) {
        const index = indexOf(terms.map((text) => ({ text, prefix: true, ...options })));
        expect(workOf(index, repeated(`${word} `, 30_000))).toBeLessThan(EACH_UNIT);
        expect(workOf(index, repeated(word, 30_000))).toBeLessThan(EACH_UNIT);
      }
    }
  });

  test('with ten thousand prefixes of one stem', () => {
    const index = indexOf(Array.from({ length: 10_000 }, (_, number) => ({ text: `rus${number}`, prefix: true })));
    for (const word of ['rust', 'rus', 'rus77', `rus${'7'.repeat(90)}`, 'x']) {
      expect(workOf(index, repeated(`${word} `, 20_000))).toBeLessThan(EACH_UNIT / 4);
    }
  });

  test('with phrases and sequences whose words match in another case', () => {
    const nested = Array.from({ length: 50 }, (_, count) => 'a '.repeat(count + 1).trim());
    const dotted = Array.from({ length: 50 }, (_, count) => 'a.'.repeat(count + 1));
    for (const [terms, period] of [
      [nested, 'a '],
      [dotted, 'a.'],
    ] as const) {
      const cased = indexOf(
        terms.map((text) => ({ text: text.replace(/a$|a\.$/, (end) => end.toUpperCase()), caseSensitive: true })),
      );
      expect(workOf(cased, repeated(period, 20_000))).toBeLessThan(EACH_UNIT);
      expect(workOf(cased, repeated(period.toUpperCase(), 20_000))).toBeLessThan(EACH_UNIT);
    }
  });
});

describe('monitors', () => {
  test('have their groups checked only after a hit, up to the first group that is not met', () => {
    const index = new MonitorIndex();
    const require = Array.from({ length: 5 }, (_, group) =>
      Array.from({ length: KEYWORDS }, (__, number) => `r${group}x${number}`),
    );
    for (let number = 0; number < 1000; number++) {
      index.set(String(number), { ...ANY, keywords: ['rust'], require, exclude: ['x', 'y'] });
    }
    expect(index.match(comment('rust'))).toEqual([]);
    expect(index.steps).toBe(4 + 1 + 1000 + KEYWORDS * 1000);
    expect(index.match(comment('rust r0x1 r1x1 r2x1 r3x1'))).toEqual([]);
    expect(index.steps).toBe(24 + 9 + 1000 + (4 * 2 + KEYWORDS) * 1000);
    expect(index.match(comment('r0x1 r1x1 r2x1 r3x1 r4x1'))).toEqual([]);
    expect(index.steps).toBe(24 + 9);
    expect(index.match(comment('rust r0x1 r1x1 r2x1 r3x1 r4x1'))).toHaveLength(1000);
    expect(index.steps).toBe(29 + 11 + 1000 + 5 * 2 * 1000 + 2 * 1000);
  });

  test('whose terms are only in another text cost one step for each', () => {
    const index = new MonitorIndex();
    for (let number = 0; number < 1000; number++) {
      index.set(String(number), { ...ANY, keywords: ['rust'], matchIn: ['title'], exclude: ['x'] });
    }
    expect(index.match(comment('rust'))).toEqual([]);
    expect(index.steps).toBe(4 + 1 + 1000);
  });

  test('without post_title cost nothing for the titles of posts, which are searched only for others', () => {
    const index = new MonitorIndex();
    for (let number = 0; number < 1000; number++) index.set(String(number), { ...ANY, keywords: ['rust'] });
    expect(index.match(comment('go', 'rust'))).toEqual([]);
    expect(index.steps).toBe(2 + 1);
    index.set('one', { ...ANY, keywords: ['rust'], matchIn: ['post_title'] });
    expect(index.match(comment('go', 'rust')).map(({ monitorId }) => monitorId)).toEqual(['one']);
    expect(index.steps).toBe(2 + 1 + 4 + 1 + 1);
    index.remove('one');
    expect(index.match(comment('go', 'rust'))).toEqual([]);
    expect(index.steps).toBe(2 + 1);
  });

  test('are changed and removed without leaving anything', () => {
    const index = new MonitorIndex();
    const bytes: number[] = [];
    for (let round = 0; round < 3000; round++) {
      const rule: Rule = {
        ...ANY,
        keywords: [`w${round}`],
        terms: [
          { text: `Case${round}`, caseSensitive: true, in: ['title'] },
          { text: `Two Words${round}`, caseSensitive: true },
          { text: `pre${round}`, prefix: true },
          { text: `Pre${round}`, prefix: true, caseSensitive: true },
          { text: `a.B${round}`, caseSensitive: true },
        ],
        require: [[`x${round}`, 'job'], [{ text: `Y${round}`, caseSensitive: true }]],
        languages: ['en'],
      };
      index.set(String(round % 2), rule);
      if (round % 3 === 0) index.remove(String((round + 1) % 2));
      if (round % 100 === 0) bytes.push(index.bytes + index.textBytes);
    }
    expect(Math.max(...bytes.slice(5))).toBeLessThanOrEqual(Math.max(...bytes.slice(0, 5)));
    for (const id of ['0', '1']) index.remove(id);
    expect(index.match(comment('w2999 pre2999 Pre2999 a.B2999 Two Words2999 x2999 job Y2999'))).toEqual([]);
    expect(index.size).toBe(0);
  });
});
