import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MonitorMatchResult } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { ALIKE, itemAround, nastyRule } from '../../../support/samples/matching-arbitraries.ts';
import { referenceMatch } from '../../../support/oracles/reference-matcher.ts';

const watch = (keywords: readonly string[], exclude: readonly string[] = []): Rule => ({
  keywords,
  exclude,
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: true,
});
const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });
const byId = <P>(results: MonitorMatchResult<P>[]): MonitorMatchResult<P>[] =>
  results.sort((one, other) => (one.monitorId < other.monitorId ? -1 : 1));
const idsOf = (index: MonitorIndex, text: string): string[] =>
  byId(index.match(comment(text))).map(({ monitorId }) => monitorId);

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
  ...[
    'rust',
    'rust lang',
    'rust-lang',
    'rust.lang',
    'rust lang book',
    'C++ developer',
    'c++-developer',
    'C++',
    'C#',
    'e-mail',
  ],
  ...[
    'e-mail us',
    'e-mail-us',
    'new york',
    'new-york',
    'new york times',
    'york',
    'york times',
    "new york's",
    'AT&T',
    '24/7',
  ],
  ...[
    '手机壳',
    'iPhone手机',
    'ガンダム',
    '한국어',
    'ภาษา',
    ':-)',
    ':-',
    '-)',
    '🦀 crab',
    'crab 🦀',
    '$TSLA',
    '.NET',
    'ß',
    'ẞ x',
  ],
];
/** Every term by itself, followed by other words. */
const TEXTS = [TERMS.join(' , '), TERMS.join(' '), TERMS.join('-'), TERMS.join(''), TERMS.toReversed().join('\n')];

describe('an index after any sequence of changes matches like a fresh index', () => {
  test('nasty rules, compared after every few changes', () => {
    const change = fc.record({ id: fc.nat(11), rule: fc.option(nastyRule, { freq: 3 }) });
    const run = fc.array(change, { minLength: 1, maxLength: 120 }).chain((changes) => {
      const rules = changes.flatMap(({ rule }) => (rule === null ? [] : [rule]));
      return fc.tuple(fc.constant(changes), fc.array(itemAround(rules), { minLength: 4, maxLength: 4 }));
    });
    let matching = 0;
    fc.assert(
      fc.property(run, ([changes, items]) => {
        const changed = new MonitorIndex<Rule>();
        const last = new Map<string, Rule>();
        changes.forEach(({ id, rule }, number) => {
          if (rule === null) {
            changed.remove(String(id));
            last.delete(String(id));
          } else {
            changed.set(String(id), rule, rule);
            last.set(String(id), rule);
          }
          expect(changed.size).toBe(last.size);
          if (number % 8 !== 7 && number !== changes.length - 1) return;
          const fresh = new MonitorIndex<Rule>();
          for (const [each, ofIt] of last) fresh.set(each, ofIt, ofIt);
          for (const item of items) {
            const expected = byId(fresh.match(item));
            expect(byId(changed.match(item))).toEqual(expected);
            if (expected.length > 0) matching++;
          }
        });
      }),
      { numRuns: 250 },
    );
    expect(matching).toBeGreaterThan(150);
  });

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

  test('each term is added and removed alone among all other terms', () => {
    const index = new MonitorIndex();
    const own = TERMS.map((term) => `. ${term} .`);
    TERMS.forEach((term, number) => {
      index.set(String(number), watch([term]));
    });
    const all = own.map((text) => idsOf(index, text));
    TERMS.forEach((term, number) => {
      expect(all[number]).toContain(String(number));
      index.remove(String(number));
      own.forEach((text, other) => {
        if (Math.abs(other - number) > 6 && other % 7 !== number % 7) return;
        expect(idsOf(index, text)).toEqual(all[other]?.filter((id) => id !== String(number)));
      });
      index.set(String(number), watch([term]));
    });
    expect(own.map((text) => idsOf(index, text))).toEqual(all);
  });
});

describe('removal', () => {
  test('of monitors that are several times in the list of one term leaves the others', () => {
    const texts = ['title', 'body', 'post_title'] as const;
    const manifold = (count: number): Rule => ({
      ...watch([]),
      terms: texts.slice(3 - count).map((text) => ({ text: 'rust', in: [text] })),
    });
    const item: MatchItem = { ...comment('rust'), title: 'rust' };
    for (let seed = 1; seed <= 200; seed++) {
      const pick = sequence(seed);
      const index = new MonitorIndex();
      const there = new Set<string>();
      for (let step = 0; step < 100; step++) {
        const id = String(pick(5));
        if (pick(2) === 0) {
          index.remove(id);
          there.delete(id);
        } else {
          index.set(id, manifold(1 + pick(3)));
          there.add(id);
        }
        const found = index.match(item);
        expect(new Set(found.map(({ monitorId }) => monitorId))).toEqual(there);
        for (const { positions } of found) expect(positions).toHaveLength(1);
      }
    }
  });

  test('nothing matches after all monitors are removed in any order', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const pick = sequence(seed);
      const index = new MonitorIndex();
      const ids = TERMS.map((_, number) => String(number));
      ids.forEach((id, number) => {
        index.set(id, watch([TERMS[number] ?? '', TERMS[pick(TERMS.length)] ?? ''], [TERMS[pick(TERMS.length)] ?? '']));
      });
      for (const text of TEXTS) index.match(comment(text));
      while (ids.length > 0) index.remove(ids.splice(pick(ids.length), 1)[0] ?? '');
      expect(index.size).toBe(0);
      for (const text of TEXTS) {
        expect(index.match(comment(text))).toEqual([]);
        // The only work is reading the text: a token has at least one code unit.
        expect(index.steps).toBeLessThanOrEqual(3 * text.length);
      }
    }
  });

  test('memory is reused: fifty rounds need no more than two', () => {
    const index = new MonitorIndex();
    const rule = (number: number, round: number): Rule => {
      const at = (offset: number): string => TERMS[(number * 3 + offset) % TERMS.length] ?? '';
      return watch(
        [at(0), `${at(1)} w${number}`, `w${number}.${round % 2}`, `手${at(2)}`, `w${number} x${number}`],
        [at(4)],
      );
    };
    const bytes: number[] = [];
    for (let round = 0; round < 50; round++) {
      for (let number = 0; number < 300; number++) index.set(String(number), rule(number, 0));
      for (let number = 0; number < 300; number += 2) index.set(String(number), rule(number, 1));
      if (round % 10 === 0) for (const text of [...TEXTS, 'w7 x7']) index.match(comment(text));
      for (let number = 0; number < 300; number++) index.remove(String((number * 7) % 300));
      expect(index.size).toBe(0);
      bytes.push(index.bytes);
    }
    expect(Math.max(...bytes.slice(2))).toBeLessThanOrEqual(Math.max(bytes[0] ?? 0, bytes[1] ?? 0));
    for (const text of TEXTS) expect(index.match(comment(text))).toEqual([]);
  });

  test('a monitor that is replaced many times with new words needs the memory of one', () => {
    const index = new MonitorIndex();
    const ruleOf = (number: number): Rule => {
      const [word, other] = [`w${number}`, `x${number}`];
      const phrases = [`${word} ${other}`, `${other} a ${word}`, `${word} ${word} ${word}`];
      return watch(
        [word, word.toUpperCase(), ...phrases, `${word}-${other}`, `${other}+ ${word}`, `手${word}`],
        [`${other} ж${word}`, word],
      );
    };
    const bytes: number[] = [];
    for (let number = 10_000; number < 14_000; number++) {
      index.set('one', ruleOf(number));
      if (number % 100 === 0) bytes.push(index.bytes);
    }
    expect(index.size).toBe(1);
    expect(Math.max(...bytes.slice(5))).toBeLessThanOrEqual(Math.max(...bytes.slice(0, 5)));
    index.remove('one');
    index.set('one', watch(['w13999']));
    expect(idsOf(index, 'w13999 x13999')).toEqual(['one']);
  });
});

describe('tables that grow and shrink', () => {
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
    for (let number = 0; number < 6000; number++) {
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
    for (let number = 0; number < 6000; number++) expectFound(index, number, there.has(number));
    expect(index.size).toBe(there.size);
    for (let number = 0; number < 6000; number++) {
      index.remove(String(number));
      if (number % 10 === 0) expectFound(index, Math.min(5999, number + 1), there.has(Math.min(5999, number + 1)));
    }
    expect(index.size).toBe(0);
  });
});
