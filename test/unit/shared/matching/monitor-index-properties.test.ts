import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from '../../../../shared/matching/explain.ts';
import { FoldedText } from '../../../../shared/matching/text/folded-text.ts';
import { matchOne, MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MonitorMatchResult } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, MatchPosition, Rule } from '../../../../shared/matching/rule.ts';
import { nastyTerm, nastyText, scene, textAround } from '../../../support/samples/matching-arbitraries.ts';
import { fold } from '../../../support/oracles/reference-fold.ts';
import {
  referenceBlocked,
  referenceMatch,
  referenceSearch,
  referenceTerm,
} from '../../../support/oracles/reference-matcher.ts';
import { refinedRule, refinedScene } from '../../../support/samples/refined-arbitraries.ts';

const folded = new FoldedText();

const watch = (keywords: readonly string[]): Rule => ({
  keywords,
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: true,
});
const comment = (text: string): MatchItem => ({ kind: 'comment', title: '', text, subreddit: 'a', nsfw: false });

/**
 * The original text of a match, folded alone, is the term. Characters that were composed cannot be separated: marks
 * (also vowels of Hangul) after a term are included, and a term that begins with a mark includes the character before
 * the mark.
 */
function coversTerm(term: string, slice: string): boolean {
  const expected = Array.from(referenceTerm(term));
  const found = Array.from(fold(slice));
  const isMark = (character = ''): boolean => /[\p{M}\u1160-\u11ff]/u.test(character);
  const same = (one: string, other: string | undefined): boolean => one === other || (one === ' ' && other === '-');
  return found.slice(0, isMark(expected[0]) ? found.length : 1).some((_, skipped) => {
    const covered = found.slice(skipped);
    return (
      expected.every((one, position) => same(one, covered[position])) &&
      covered.slice(expected.length).every((character) => isMark(character))
    );
  });
}

function checkPosition(item: MatchItem, term: string, { field, start, end }: MatchPosition): void {
  const text = item[field === 'text' ? 'text' : 'title'];
  expect(start).toBeGreaterThanOrEqual(0);
  expect(end).toBeGreaterThan(start);
  expect(end).toBeLessThanOrEqual(text.length);
  const slice = text.slice(start, end);
  if (!coversTerm(term, slice)) expect.fail(`${JSON.stringify(term)} is not at ${JSON.stringify(slice)}`);
}

describe('against a regular expression per term', () => {
  test('one term that is inserted into texts, whole and in pieces', () => {
    let matching = 0;
    const termAndText = nastyTerm.chain((term) => fc.tuple(fc.constant(term), textAround([term], 8)));
    fc.assert(
      fc.property(termAndText, ([term, text]) => {
        const expected = referenceSearch(term)(fold(text));
        if (expected) matching++;
        expect(matchOne(watch([term]), comment(text))).toEqual(expected ? [term] : undefined);
      }),
      { numRuns: 3000 },
    );
    expect(matching).toBeGreaterThan(700);
  });
});

const CHANGED_BY_NEIGHBOURS = [
  ...['ก', 'ข', 'ั', '\u200b', '\u200b', '\u200d', '&#x200B;', '👍', '🏽', '☝', '\ufe0f', 'e', '\u0301', '\u0323'],
  ...['&#769;', 'ｶ', 'ﾞ', '\u1112', '\u1161', '\u11ab', 'H', '\u0331', '\\', '_', '&', 'a', ' ', '🦀'],
];

describe('the folded text', () => {
  const texts = fc.oneof(
    nastyText(40),
    // Long plain stretches, so that both ways of folding alternate.
    fc
      .array(fc.oneof(nastyText(4), fc.constantFrom('abcab ', 'B', 'a s', '手机 ')), { maxLength: 20 })
      .map((parts) => parts.join('')),
    // Few characters, each of which changes a neighbour.
    fc.array(fc.constantFrom(...CHANGED_BY_NEIGHBOURS), { maxLength: 10 }).map((parts) => parts.join('')),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  );

  test('equals that of the reference, and maps each unit to its original position', () => {
    fc.assert(
      fc.property(texts, (text) => {
        folded.fold(text);
        // The index joins runs of whitespace only when it cuts the text into words.
        expect(folded.toString().replace(/ {2,}/g, ' ')).toBe(fold(text));
        let start = 0;
        let end = 0;
        for (let unit = 0; unit < folded.length; unit++) {
          expect(folded.originalStart(unit)).toBeGreaterThanOrEqual(start);
          expect(folded.originalEnd(unit)).toBeGreaterThanOrEqual(end);
          start = folded.originalStart(unit);
          end = folded.originalEnd(unit);
          expect(end).toBeGreaterThan(start);
        }
        expect(end).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('positions', () => {
  test('cover the term in the first text that contains it', () => {
    let covered = 0;
    fc.assert(
      fc.property(scene(6, 2), ({ rules, items }) => {
        const index = new MonitorIndex();
        rules.forEach((rule, number) => {
          index.set(String(number), rule);
        });
        for (const item of items) {
          const found = index.match(item);
          const matched = new Map(found.map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]));
          expect(rules.map((_, number) => matched.get(String(number)))).toEqual(
            rules.map((rule) => referenceMatch(rule, item)),
          );
          expect(found).toHaveLength(matched.size);
          for (const { matchedTerms, positions } of found) {
            matchedTerms.forEach((term, termIndex) => {
              const position = positions[termIndex] ?? { field: 'text', start: -1, end: -1 };
              checkPosition(item, term, position);
              const isInTitle = item.kind === 'post' && referenceSearch(term)(fold(item.title));
              expect(position.field).toBe(isInTitle ? 'title' : 'text');
              covered++;
            });
          }
        }
      }),
      { numRuns: 700 },
    );
    expect(covered).toBeGreaterThan(400);
  });
});

const byId = <P>(results: MonitorMatchResult<P>[]): MonitorMatchResult<P>[] =>
  results.sort((one, other) => (one.monitorId < other.monitorId ? -1 : 1));

describe('rules with conditions', () => {
  test('match as regular expressions say, alone and among others', () => {
    let runs = 0;
    let matching = 0;
    fc.assert(
      fc.property(refinedScene(8, 3), ({ rules, items }) => {
        const index = new MonitorIndex();
        rules.forEach((rule, number) => {
          index.set(String(number), rule);
        });
        for (const item of items) {
          const expected = rules.flatMap((rule, number) => {
            const matchedTerms = referenceMatch(rule, item);
            return matchedTerms === undefined ? [] : [{ monitorId: String(number), matchedTerms }];
          });
          const found = byId(index.match(item));
          expect(found.map(({ monitorId, matchedTerms }) => ({ monitorId, matchedTerms }))).toEqual(expected);
          for (const { matchedTerms, positions } of found) expect(positions).toHaveLength(matchedTerms.length);
          const visited: string[] = [];
          index.forEachMatch(item, (monitorId) => {
            visited.push(monitorId);
          });
          expect(visited.sort()).toEqual(expected.map(({ monitorId }) => monitorId));
          runs += rules.length;
          matching += expected.length;
        }
      }),
      { numRuns: 800 },
    );
    expect(matching).toBeGreaterThan(runs / 16);
  });

  test('an index after any changes matches like a fresh one, and needs no more work', () => {
    const change = fc.record({ id: fc.nat(7), rule: fc.option(refinedRule, { freq: 3 }) });
    const run = fc
      .array(change, { minLength: 1, maxLength: 40 })
      .chain((changes) => fc.record({ changes: fc.constant(changes), scene: refinedScene(1, 3) }));
    fc.assert(
      fc.property(run, refinedScene(6, 4), ({ changes }, { rules, items }) => {
        const changed = new MonitorIndex<Rule>();
        const last = new Map<string, Rule>();
        const apply = (id: string, rule: Rule | null): void => {
          if (rule === null) changed.remove(id);
          else changed.set(id, rule, rule);
          if (rule === null) last.delete(id);
          else last.set(id, rule);
          for (const item of items.slice(0, 1)) changed.match(item);
        };
        for (const { id, rule } of changes) apply(String(id), rule);
        rules.forEach((rule, number) => {
          apply(String(number), rule);
        });
        const fresh = new MonitorIndex<Rule>();
        for (const [id, rule] of last) fresh.set(id, rule, rule);
        for (const item of items) expect(byId(changed.match(item))).toEqual(byId(fresh.match(item)));
        for (const id of last.keys()) changed.remove(id);
        for (const item of items) {
          expect(changed.match(item)).toEqual([]);
          // Nothing is left but reading the usual texts.
          const length = item.text.length + (item.kind === 'post' ? item.title.length : 0);
          expect(changed.steps).toBeLessThanOrEqual(4 * length);
        }
      }),
      { numRuns: 400 },
    );
  });

  test('are explained as they match', () => {
    let matching = 0;
    fc.assert(
      fc.property(refinedScene(1, 3), ({ rules, items }) => {
        for (const item of items) {
          const [rule] = rules;
          if (rule === undefined) return;
          const explanation = explain(rule, item);
          const matched = referenceMatch(rule, item);
          expect(explanation.matchedTerms).toEqual(matched ?? []);
          const index = new MonitorIndex();
          index.set('one', rule);
          const shown = [...explanation.keywords, ...explanation.terms].filter(({ positions }) => positions.length > 0);
          const first = (written: string) => shown.find(({ term }) => term === written)?.positions[0];
          expect(index.match(item).flatMap(({ positions }) => positions)).toEqual((matched ?? []).map(first));
          expect(explanation.blockedBy).toBe(referenceBlocked(rule, item));
          const occurs = ({ positions }: { positions: unknown[] }): boolean => positions.length > 0;
          const { keywords, terms, require, exclude } = explanation;
          const isWanted = [...keywords, ...terms].some(occurs) && require.every(({ isMet }) => isMet);
          const isMatch = explanation.blockedBy === undefined && isWanted && !exclude.some(occurs);
          expect(isMatch).toBe(matched !== undefined);
          expect([keywords, terms, exclude].map(({ length }) => length)).toEqual(
            [rule.keywords, rule.terms ?? [], rule.exclude].map(({ length }) => length),
          );
          expect(require.map(({ terms: group }) => group.length)).toEqual((rule.require ?? []).map((g) => g.length));
          if (isMatch) matching++;
        }
      }),
      { numRuns: 500 },
    );
    expect(matching).toBeGreaterThan(70);
  });
});
