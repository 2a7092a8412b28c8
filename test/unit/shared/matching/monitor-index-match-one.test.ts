import { expect, test } from 'vitest';
import { matchOne, MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
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
function indexOfAll(): MonitorIndex {
  const index = new MonitorIndex();
  for (const { keyword } of TERM_CASES) index.set(keyword, ruleFor(keyword));
  return index;
}

test.each(TERM_CASES)('rule $rule: $keyword', ({ keyword, matches, misses }) => {
  const [rule, index] = [ruleFor(keyword), indexOfAll()];
  const found = [...matches, ...misses].filter((text) => matchOne(rule, comment(text)) !== undefined);
  expect(found).toEqual(matches);
  const isAmongAll = (text: string) => index.match(comment(text)).some(({ monitorId }) => monitorId === keyword);
  expect([...matches, ...misses].filter(isAmongAll)).toEqual(matches);
  const byReference = [...matches, ...misses].filter((text) => referenceMatch(rule, comment(text)) !== undefined);
  expect(byReference).toEqual(matches);
  const excluding = { ...ANY, keywords: ['always here'], exclude: [keyword] };
  const kept = matches.filter((text) => matchOne(excluding, comment(`always here, ${text}`)) !== undefined);
  expect(kept).toEqual([]);
});

test.each(ITEM_CASES)('rule $rule: $monitor, $item', ({ monitor, item, expected }) => {
  const rule = { ...ITEM_CASE_RULE, ...monitor };
  expect(matchOne(rule, item)).toEqual(expected);
  expect(referenceMatch(rule, item)).toEqual(expected);
  const index = new MonitorIndex();
  index.set('all of them excluded', { ...rule, terms: [], exclude: rule.keywords });
  index.set('this', { ...rule, keywords: ['replaced'] });
  index.set('elsewhere', { ...rule, subreddits: ['somewhere_else'] });
  index.set('removed', rule);
  index.set('this', rule);
  index.remove('removed');
  const results = index.match(item).map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]);
  expect(results).toEqual(expected === undefined ? [] : [['this', expected]]);
});

test.each(POSITION_CASES)('position: $name', ({ keyword, text, found, start }) => {
  expect(matchOne(ruleFor(keyword), comment(text.slice(0, start)))).toBeUndefined();
  const index = new MonitorIndex();
  index.set('this', ruleFor(keyword));
  const [match] = index.match(comment(text));
  expect(match?.positions).toEqual([{ field: 'text', start, end: start + found.length }]);
});
