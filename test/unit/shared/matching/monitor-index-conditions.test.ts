import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from '../../../../shared/matching/explain.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MonitorMatchResult } from '../../../../shared/matching/monitor-index.ts';
import type { Rule } from '../../../../shared/matching/rule.ts';
import { referenceBlocked, referenceMatch } from '../../../support/oracles/reference-matcher.ts';
import { refinedRule, refinedScene } from '../../../support/samples/refined-arbitraries.ts';

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
      { numRuns: 2000 },
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
      { numRuns: 1000 },
    );
    expect(matching).toBeGreaterThan(150);
  });
});
