import { describe, expect, test } from 'vitest';
import { ruleWarnings } from '../../../../../services/api/monitors/rule-warnings.ts';
import type { MatchItem, Rule } from '../../../../../shared/matching/rule.ts';

const RULE: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
const CONSEQUENCE = 'matches beyond the daily cap are suppressed, and at most 10,000 of those a day are stored.';

/** The warnings without the archive, unless given. */
function warn(rule: Partial<Rule>, sample: MatchItem[] = [], suppressedPerDay = 10_000) {
  return ruleWarnings({ ...RULE, ...rule }, { sample, suppressedPerDay });
}
const codes = (rule: Partial<Rule>, sample?: MatchItem[]) =>
  warn(rule, sample).map(({ field, code }) => `${field} ${code}`);

describe('warnings about a rule', () => {
  test('name the keyword that an excluded term rules out', () => {
    expect(warn({ keywords: ['coffee', 'new york'], exclude: ['york'] })).toEqual([
      {
        field: 'keywords[1]',
        code: 'keyword_excluded',
        message: '"new york" never matches: every text that contains it contains the excluded term "york".',
      },
    ]);
  });
});

describe('common keywords with the archive', () => {
  test('have the share of the items that the monitor watches', () => {
    const posts = Array.from({ length: 50 }, (): MatchItem => ({ ...ITEM, kind: 'post', title: 'banana', text: '' }));
    const sample = [...sampleOf(120, 'a Banana split'), ...sampleOf(80, 'tea'), ...posts];
    const message = (rule: Partial<Rule>) => warn({ keywords: ['banana'], ...rule }, sample)[0]!.message;
    expect(message({})).toBe(`"banana" is in about 68 % of the 250 items that the archive got last: ${CONSEQUENCE}`);
    expect(message({ posts: false })).toContain('about 60 % of the 200 items');
    // The share is that of the keyword, not of the rule.
    expect(message({ exclude: ['split'] })).toContain('about 68 %');
  });

  test('begin at a tenth of the items; words of the list at a fiftieth', () => {
    const sample = [
      ...sampleOf(9, 'topic the'),
      ...sampleOf(10, 'frequent'),
      ...sampleOf(1, 'don’t'),
      ...sampleOf(80, '.'),
    ];
    expect(codes({ keywords: ['topic', 'frequent', 'the', "don't", 'with'] }, sample)).toEqual([
      'keywords[1] common_word',
      'keywords[2] common_word',
    ]);
  });
});

const ITEM: MatchItem = { kind: 'comment', title: '', text: '', subreddit: 'a', nsfw: false };

function sampleOf(count: number, text: string): MatchItem[] {
  return Array.from({ length: count }, () => ({ ...ITEM, text }));
}
