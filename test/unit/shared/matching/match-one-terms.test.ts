import { describe, expect, test } from 'vitest';
import { fold } from '../../../support/oracles/reference-fold.ts';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { TERM_CASES } from './match-one.cases.ts';
import { naiveSearch } from '../../../support/oracles/naive-matcher.ts';

const ANY: Omit<Rule, 'keywords'> = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };

function ruleFor(keyword: string): Rule {
  return { ...ANY, keywords: [keyword] };
}

function comment(text: string): MatchItem {
  return { kind: 'comment', title: '', text, subreddit: 'test', nsfw: false };
}

/** All keywords of the tables at once, so that each is matched in the company of the others. */
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

  test('has enough texts to say something', () => {
    expect(matches.length).toBeGreaterThanOrEqual(5);
    expect(misses.length).toBeGreaterThanOrEqual(5);
  });

  test('excludes where it matches', () => {
    const rule = { ...ANY, keywords: ['always here'], exclude: [keyword] };
    for (const text of matches) expect(matchOne(rule, comment(`always here, ${text}`))).toBeUndefined();
  });
});
