import { describe, expect, test } from 'vitest';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { referenceMatch } from '../../../support/oracles/reference-matcher.ts';
import { ALIKE } from '../../../support/samples/matching-arbitraries.ts';

const RULE: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
const watch = (keywords: readonly string[], exclude: readonly string[] = []): Rule => ({ ...RULE, keywords, exclude });
const comment = (text: string, title = ''): MatchItem => ({
  kind: 'comment',
  title,
  text,
  subreddit: 'a',
  nsfw: false,
});

/** A fixed pseudo-random sequence of numbers below `count` (Park and Miller, 1988). */
function sequence(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (state * 48271) % 0x7fffffff;
    return state % count;
  };
}

/** Terms of every shape that share words, prefixes and nodes. */
const TERMS = [
  ...ALIKE,
  ...['rust', 'rust lang', 'rust-lang', 'rust.lang', 'rust lang book', 'C++ developer', 'c++-developer', 'C++', 'C#'],
  ...['e-mail', 'e-mail us', 'e-mail-us', 'new york', 'new-york', 'new york times', 'york', 'york times', "new york's"],
  ...['AT&T', '24/7', '手机壳', 'iPhone手机', 'ガンダム', '한국어', 'ภาษา', ':-)', ':-', '-)', '🦀 crab', 'crab 🦀'],
  ...['$TSLA', '.NET', 'ß', 'ẞ x'],
];
/** Every term by itself, followed by other words. */
const TEXTS = [TERMS.join(' , '), TERMS.join(' '), TERMS.join('-'), TERMS.join(''), TERMS.toReversed().join('\n')];

test('returns every matching monitor with its own terms and payload', () => {
  const index = new MonitorIndex<{ version: number }>();
  index.set('a', { ...RULE, keywords: ['Rust', 'go'] }, { version: 1 });
  index.set('b', { ...RULE, keywords: ['go', 'RUST'] }, { version: 2 });
  index.set('c', { ...RULE, keywords: ['python'] }, { version: 3 });
  const results = index.match(comment('rust')).sort((one, other) => one.monitorId.localeCompare(other.monitorId));
  expect(results).toEqual([
    {
      monitorId: 'a',
      matchedTerms: ['Rust'],
      positions: [{ field: 'text', start: 0, end: 4 }],
      payload: { version: 1 },
    },
    {
      monitorId: 'b',
      matchedTerms: ['RUST'],
      positions: [{ field: 'text', start: 0, end: 4 }],
      payload: { version: 2 },
    },
  ]);
  index.set('a', { ...RULE, keywords: ['Rust'] }, { version: 4 });
  expect(index.match(comment('rust')).find(({ monitorId }) => monitorId === 'a')?.payload).toEqual({ version: 4 });
});

describe('changes of rules that share their terms', () => {
  test('two thousand changes of rules that share their terms', () => {
    const pick = sequence(20_240_607);
    const someOf = (most: number): string[] =>
      Array.from({ length: pick(most + 1) }, () => TERMS[pick(TERMS.length)] ?? '');
    const changed = new MonitorIndex();
    const last = new Map<string, Rule>();
    for (let number = 0; number < 2000; number++) {
      const id = String(pick(60));
      if (pick(3) === 0) {
        changed.remove(id);
        last.delete(id);
      } else {
        const rule = watch(someOf(5), someOf(1));
        changed.set(id, rule);
        last.set(id, rule);
      }
      if (number % 50 !== 0) {
        // Matching in between creates links that the next change must invalidate.
        changed.match(comment(TEXTS[number % TEXTS.length] ?? ''));
        continue;
      }
      for (const text of TEXTS) {
        const expected = new Map([...last].map(([each, rule]) => [each, referenceMatch(rule, comment(text))]));
        const actual = new Map(
          changed.match(comment(text)).map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]),
        );
        for (const [each, terms] of expected) expect([each, actual.get(each)]).toEqual([each, terms]);
        expect(actual.size).toBe([...expected.values()].filter((terms) => terms !== undefined).length);
      }
    }
  });
});

describe('tables that grow and shrink', () => {
  test.each([
    ['oldest', () => 0],
    ['newest', (length: number) => length - 1],
    ['inner', (length: number) => Math.floor(length / 3)],
  ])('of many monitors of one term, each up to three times in its list, the %s can be removed', (_, pick) => {
    const texts = ['title', 'body', 'post_title'] as const;
    const manifold = (count: number): Rule => ({
      ...watch([]),
      terms: texts.slice(3 - count).map((text) => ({ text: 'rust', in: [text] })),
    });
    const item: MatchItem = { ...comment('rust'), title: 'rust' };
    const index = new MonitorIndex();
    const ids = Array.from({ length: 700 }, (__, number) => String(number));
    const expectFound = (): void => {
      const found = index.match(item);
      expect(found.map(({ monitorId }) => monitorId).sort()).toEqual(ids.toSorted());
      for (const { positions } of found) expect(positions).toHaveLength(1);
    };
    for (const [number, id] of ids.entries()) index.set(id, number % 2 === 0 ? RULE : manifold(1 + (number % 3)));
    expectFound();
    while (ids.length > 0) {
      index.remove(ids.splice(pick(ids.length), 1)[0]!);
      if (ids.length % 50 < 3) expectFound();
    }
    let bytes = 0;
    for (let round = 0; round < 40; round++) {
      for (let number = 0; number < 700; number++) index.set(String(number), RULE);
      expect(index.match(item)).toHaveLength(700);
      for (let number = 0; number < 700; number++) index.remove(String(number));
      if (round === 0) ({ bytes } = index);
    }
    expect(index.bytes).toBeLessThanOrEqual(bytes);
  });

  const wordOf = (number: number): string => `w${number.toString(36)}`;
  /** One of each shape; short words make the texts long enough to be read quickly. */
  const termsOf = (number: number): string[] => {
    const word = wordOf(number);
    return [word, `${word} x`, `${word}.x`, `${word}+ x`, `手${word}`];
  };
  const textOf = (number: number): string => termsOf(number).join(' , ');
  const expectFound = (index: MonitorIndex, number: number, isThere: boolean): void => {
    const found = index.match(comment(textOf(number)));
    expect(found.map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms])).toEqual(
      isThere ? [[String(number), termsOf(number)]] : [],
    );
  };

  test('find everything at each size, with removals in between', () => {
    const index = new MonitorIndex();
    const there = new Set<number>();
    const pick = sequence(7);
    for (let number = 0; number < 3000; number++) {
      index.set(String(number), watch(termsOf(number)));
      there.add(number);
      if (number % 3 === 0) {
        const removed = pick(number + 1);
        index.remove(String(removed));
        there.delete(removed);
        expectFound(index, removed, false);
      }
      for (const looked of [number, pick(number + 1)]) expectFound(index, looked, there.has(looked));
    }
    for (let number = 0; number < 3000; number++) expectFound(index, number, there.has(number));
    expect(index.size).toBe(there.size);
    for (let number = 0; number < 3000; number++) {
      index.remove(String(number));
      if (number % 10 === 0) expectFound(index, Math.min(2999, number + 1), there.has(Math.min(2999, number + 1)));
    }
    expect(index.size).toBe(0);
  });
});

describe('the cost of monitors', () => {
  test('of a found keyword is one step and one step per exclude', () => {
    const index = new MonitorIndex();
    for (let number = 0; number < 1000; number++) index.set(String(number), watch(['rust', 'go'], [`x${number}`, 'y']));
    expect(index.match(comment('rust'))).toHaveLength(1000);
    expect(index.steps).toBe(4 + 1 + 1000 * (1 + 2));
    expect(index.match(comment('rust y'))).toEqual([]);
    expect(index.steps).toBe(6 + 3 + 1000 * (1 + 2));
    expect(index.match(comment('x'))).toEqual([]);
    expect(index.steps).toBe(2);
  });

  test('groups of required terms are checked only after a hit, up to the first that is not met', () => {
    const index = new MonitorIndex();
    const require = Array.from({ length: 5 }, (_, group) =>
      Array.from({ length: 20 }, (__, number) => `r${group}x${number}`),
    );
    for (let number = 0; number < 1000; number++) {
      index.set(String(number), { ...RULE, require, exclude: ['x', 'y'] });
    }
    expect(index.match(comment('rust'))).toEqual([]);
    expect(index.steps).toBe(4 + 1 + 1000 + 20 * 1000);
    expect(index.match(comment('rust r0x1 r1x1 r2x1 r3x1'))).toEqual([]);
    expect(index.steps).toBe(24 + 9 + 1000 + (4 * 2 + 20) * 1000);
    expect(index.match(comment('r0x1 r1x1 r2x1 r3x1 r4x1'))).toEqual([]);
    expect(index.steps).toBe(24 + 9);
    expect(index.match(comment('rust r0x1 r1x1 r2x1 r3x1 r4x1'))).toHaveLength(1000);
    expect(index.steps).toBe(29 + 11 + 1000 + 5 * 2 * 1000 + 2 * 1000);
  });

  test('monitors whose terms are only in another text cost one step each', () => {
    const index = new MonitorIndex();
    for (let number = 0; number < 1000; number++) {
      index.set(String(number), { ...RULE, matchIn: ['title'], exclude: ['x'] });
    }
    expect(index.match(comment('rust'))).toEqual([]);
    expect(index.steps).toBe(4 + 1 + 1000);
  });

  test('titles of posts are searched only while a monitor wants them', () => {
    const index = new MonitorIndex();
    for (let number = 0; number < 1000; number++) index.set(String(number), RULE);
    expect(index.match(comment('go', 'rust'))).toEqual([]);
    expect(index.steps).toBe(2 + 1);
    index.set('one', { ...RULE, matchIn: ['post_title'] });
    expect(index.match(comment('go', 'rust')).map(({ monitorId }) => monitorId)).toEqual(['one']);
    expect(index.steps).toBe(2 + 1 + 4 + 1 + 1);
    index.remove('one');
    expect(index.match(comment('go', 'rust'))).toEqual([]);
    expect(index.steps).toBe(2 + 1);
  });

  test('monitors with conditions are changed and removed without leaving anything', () => {
    const index = new MonitorIndex();
    const bytes: number[] = [];
    for (let round = 0; round < 3000; round++) {
      const rule: Rule = {
        ...RULE,
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
      if (round % 100 === 0) bytes.push(index.bytes);
    }
    expect(Math.max(...bytes.slice(5))).toBeLessThanOrEqual(Math.max(...bytes.slice(0, 5)));
    for (const id of ['0', '1']) index.remove(id);
    expect(index.match(comment('w2999 pre2999 Pre2999 a.B2999 Two Words2999 x2999 job Y2999'))).toEqual([]);
    expect(index.size).toBe(0);
  });
});
