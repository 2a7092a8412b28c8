import { describe, expect, test } from 'vitest';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';

const RULE: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
const POST: MatchItem = { kind: 'post', title: '', text: '', subreddit: 'programming', nsfw: false };
const COMMENT: MatchItem = { ...POST, kind: 'comment' };

interface RuleCase {
  rule: string;
  monitor: Partial<Rule>;
  item: MatchItem;
  /** The matched terms, or undefined for no match. */
  expected: string[] | undefined;
}

const york = (exclude: string[], text: string, expected: string[] | undefined): RuleCase => ({
  rule: '17 excludes',
  monitor: { keywords: ['york', 'city'], exclude },
  item: { ...COMMENT, text },
  expected,
});

const terms = (keywords: string[], text: string, expected: string[] | undefined): RuleCase => ({
  rule: '18 matched terms',
  monitor: { keywords },
  item: { ...COMMENT, text },
  expected,
});

const within = (subreddits: string[], subreddit: string, matches: boolean): RuleCase => ({
  rule: '19 communities',
  monitor: { subreddits },
  item: { ...COMMENT, text: 'rust', subreddit },
  expected: matches ? ['rust'] : undefined,
});

const CASES: RuleCase[] = [
  { rule: '16 title', monitor: {}, item: { ...POST, title: 'On rust' }, expected: ['rust'] },
  { rule: '16 text', monitor: {}, item: { ...POST, title: 'x', text: 'On rust' }, expected: ['rust'] },
  { rule: '16 both', monitor: {}, item: { ...POST, title: 'Rust', text: 'rust' }, expected: ['rust'] },
  { rule: '16 a comment by its text', monitor: {}, item: { ...COMMENT, text: 'rust' }, expected: ['rust'] },
  { rule: '16 not by its title', monitor: {}, item: { ...COMMENT, title: 'rust', text: 'go' }, expected: undefined },
  { rule: '16 nothing', monitor: {}, item: POST, expected: undefined },
  {
    rule: '16 no phrase across',
    monitor: { keywords: ['new york'] },
    item: { ...POST, title: 'all new', text: 'york times' },
    expected: undefined,
  },
  {
    rule: '16 no characters across',
    monitor: { keywords: ['手机', 'C++'] },
    item: { ...POST, title: '手', text: '机' },
    expected: undefined,
  },
  {
    rule: '16 no neighbour across',
    monitor: { keywords: ['C++'] },
    item: { ...POST, title: 'C++', text: '+' },
    expected: ['C++'],
  },
  {
    rule: '16 an exclude in the title drops the post',
    monitor: { exclude: ['game'] },
    item: { ...POST, title: 'the game', text: 'rust' },
    expected: undefined,
  },
  {
    rule: '16 an exclude in the title leaves the comment',
    monitor: { exclude: ['game'] },
    item: { ...COMMENT, title: 'the game', text: 'rust' },
    expected: ['rust'],
  },

  york([], 'new york', ['york']),
  york(['new york'], 'york', ['york']),
  york(['new york'], 'new york', undefined),
  york(['new york'], 'york is not New-York', undefined),
  york(['new york'], 'the city of new  york', undefined),
  york(['new york'], 'new, york city', ['york', 'city']),
  york(['york'], 'york', undefined),
  york(['york'], 'city', ['city']),
  york(['times', 'shire'], 'york, shire', undefined),
  york(['times', 'shire'], 'yorkshire city', ['city']),
  york(['time'], 'york times', ['york']),
  york(['約'], 'york 予約', undefined),
  york(['  '], 'york', ['york']),

  terms(['new york', 'york'], 'new york', ['new york', 'york']),
  terms(['york', 'new york'], 'new york', ['york', 'new york']),
  terms(['b', 'Aa', 'CC'], 'cc aa', ['Aa', 'CC']),
  terms(['Aa', 'CC'], 'cc cc cc', ['CC']),
  terms([' "Aa" ', 'CC'], 'aa', [' "Aa" ']),
  terms(['Rust', 'RUST', 'go'], 'go rust', ['Rust', 'go']),
  terms(['a-b', 'a b', 'ab'], 'a-b', ['a-b', 'a b']),
  terms(['a-b', 'a b', 'ab'], 'a b', ['a b']),
  terms(['手机', '机'], '手机', ['手机', '机']),
  terms(['rust'], 'go', undefined),
  terms([], 'anything', undefined),
  terms(['""', ' '], 'anything ""', undefined),

  within([], 'anything', true),
  within(['rust'], 'rust', true),
  within(['rust'], 'Rust', true),
  within(['r/RUST'], 'rust', true),
  within(['go', '/r/rust'], 'rust', true),
  within(['R/Rust'], 'r/rust', true),
  within(['rust'], 'rustjerk', false),
  within(['rustjerk'], 'rust', false),
  within(['go', 'python'], 'rust', false),
  within(['u_rust'], 'rust', false),
  within(['rust'], '', false),

  { rule: '19 NSFW', monitor: { nsfw: true }, item: { ...COMMENT, text: 'rust', nsfw: true }, expected: ['rust'] },
  { rule: '19 NSFW', monitor: { nsfw: true }, item: { ...COMMENT, text: 'rust' }, expected: ['rust'] },
  { rule: '19 NSFW', monitor: {}, item: { ...POST, title: 'rust', nsfw: true }, expected: undefined },
  { rule: '19 NSFW', monitor: {}, item: { ...COMMENT, text: 'rust', nsfw: true }, expected: undefined },
  { rule: '19 posts', monitor: { posts: false }, item: { ...POST, title: 'rust' }, expected: undefined },
  { rule: '19 posts', monitor: { posts: false }, item: { ...COMMENT, text: 'rust' }, expected: ['rust'] },
  { rule: '19 comments', monitor: { comments: false }, item: { ...COMMENT, text: 'rust' }, expected: undefined },
  { rule: '19 comments', monitor: { comments: false }, item: { ...POST, text: 'rust' }, expected: ['rust'] },

  ...['[deleted]', '[removed]', ' [removed]\n'].flatMap((text): RuleCase[] => [
    { rule: '20 gone', monitor: { keywords: ['removed', 'deleted'] }, item: { ...COMMENT, text }, expected: undefined },
    { rule: '20 gone', monitor: { keywords: ['removed', 'deleted'] }, item: { ...POST, text }, expected: undefined },
    { rule: '20 the title stays', monitor: {}, item: { ...POST, title: 'rust', text }, expected: ['rust'] },
    { rule: '20 gone', monitor: { exclude: ['removed'] }, item: { ...POST, title: 'rust', text }, expected: ['rust'] },
  ]),
  ...['removed', '[removed] by me', '[[removed]]', '(removed)', '[Removed]'].map((text): RuleCase => ({
    rule: '20 said by somebody',
    monitor: { keywords: ['removed'] },
    item: { ...COMMENT, text },
    expected: ['removed'],
  })),
];

describe.each(CASES)('rule $rule: $monitor, $item', ({ monitor, item, expected }) => {
  const rule = { ...RULE, ...monitor };

  test('one monitor', () => {
    expect(matchOne(rule, item)).toEqual(expected);
  });

  test('among others that hold the same terms', () => {
    const index = new MonitorIndex();
    index.set('all of them excluded', { ...rule, exclude: rule.keywords });
    index.set('this', rule);
    index.set('elsewhere', { ...rule, subreddits: ['somewhere_else'] });
    index.set('gone', rule);
    index.remove('gone');
    const results = index.match(item).map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]);
    expect(results).toEqual(expected === undefined ? [] : [['this', expected]]);
  });
});
