import { describe, expect, test } from 'vitest';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { naiveSearch } from '../../../support/oracles/naive-matcher.ts';
import { fold } from '../../../support/oracles/reference-fold.ts';
import { referenceMatch } from '../../../support/oracles/reference-matcher.ts';
import { ITEM_CASES } from './cases/items/all-items.ts';
import { ITEM_CASE_RULE } from './cases/items/item-case.ts';
import { POSITION_CASES } from './cases/positions.cases.ts';
import { TERM_CASES } from './cases/terms/all-terms.ts';

const ANY: Omit<Rule, 'keywords'> = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };

function ruleFor(keyword: string): Rule {
  return { ...ANY, keywords: [keyword] };
}

function comment(text: string): MatchItem {
  return { kind: 'comment', title: '', text, subreddit: 'test', nsfw: false };
}

/** The keywords of all tables in one index, so that each keyword is also matched among all others. */
const everyKeyword = new MonitorIndex();
for (const { keyword } of TERM_CASES) everyKeyword.set(keyword, ruleFor(keyword));

function findsAmongAll(keyword: string, text: string): boolean {
  return everyKeyword.match(comment(text)).some(({ monitorId }) => monitorId === keyword);
}

describe.each(TERM_CASES)('rule $rule: $keyword', ({ keyword, matches, misses }) => {
  test.each(matches)('matches %j', (text) => {
    expect(matchOne(ruleFor(keyword), comment(text))).toEqual([keyword]);
    expect(findsAmongAll(keyword, text)).toBe(true);
    expect(naiveSearch(fold(keyword))(fold(text))).toBe(true);
  });

  test.each(misses)('does not match %j', (text) => {
    expect(matchOne(ruleFor(keyword), comment(text))).toBeUndefined();
    expect(findsAmongAll(keyword, text)).toBe(false);
    expect(naiveSearch(fold(keyword))(fold(text))).toBe(false);
  });

  test('has at least five texts of each kind, each text once', () => {
    expect(new Set(matches).size).toBeGreaterThanOrEqual(5);
    expect(new Set(misses).size).toBeGreaterThanOrEqual(5);
    expect(matches.filter((text) => misses.includes(text))).toEqual([]);
  });

  test('excludes where it matches', () => {
    const rule = { ...ANY, keywords: ['always here'], exclude: [keyword] };
    for (const text of matches) expect(matchOne(rule, comment(`always here, ${text}`))).toBeUndefined();
  });
});

describe.each(ITEM_CASES)('rule $rule: $monitor, $item', ({ monitor, item, expected }) => {
  const rule = { ...ITEM_CASE_RULE, ...monitor };

  test('a single monitor', () => {
    expect(matchOne(rule, item)).toEqual(expected);
  });

  test('by regular expressions', () => {
    expect(referenceMatch(rule, item)).toEqual(expected);
  });

  test('among other monitors with the same terms', () => {
    const index = new MonitorIndex();
    index.set('all of them excluded', { ...rule, terms: [], exclude: rule.keywords });
    index.set('this', { ...rule, keywords: ['replaced'] });
    index.set('elsewhere', { ...rule, subreddits: ['somewhere_else'] });
    index.set('removed', rule);
    index.set('this', rule);
    index.remove('removed');
    const results = (): unknown[] => index.match(item).map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]);
    const once = expected === undefined ? [] : [['this', expected]];
    expect(results()).toEqual(once);
    expect(results()).toEqual(once);
  });
});

describe.each(POSITION_CASES)('position: $name', ({ keyword, text, found, start }) => {
  test('is that of a match within the text', () => {
    expect(found).not.toBe('');
    expect(text.slice(start, start + found.length)).toBe(found);
    expect(matchOne(ruleFor(keyword), comment(text))).toEqual([keyword]);
  });

  test('is that of the first match', () => {
    expect(matchOne(ruleFor(keyword), comment(text.slice(0, start)))).toBeUndefined();
  });

  test('is what the index returns', () => {
    const index = new MonitorIndex();
    index.set('this', ruleFor(keyword));
    const [match] = index.match(comment(text));
    expect(match?.positions).toEqual([{ field: 'text', start, end: start + found.length }]);
  });
});

describe('the tables', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])('have texts for rule %i', (rule) => {
    expect(TERM_CASES.some((entry) => entry.rule.startsWith(`${String(rule)} `))).toBe(true);
  });

  test.each([16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27])(
    'have at least five matching and five other items for rule %i',
    (rule) => {
      const cases = ITEM_CASES.filter((entry) => entry.rule.startsWith(`${String(rule)} `));
      expect(cases.filter(({ expected }) => expected !== undefined).length).toBeGreaterThanOrEqual(5);
      expect(cases.filter(({ expected }) => expected === undefined).length).toBeGreaterThanOrEqual(5);
    },
  );
});
