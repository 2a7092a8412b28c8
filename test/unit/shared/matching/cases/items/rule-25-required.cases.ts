/** Rule 25: an item must have a term of each group as well. */
import type { MatchItem, Rule } from '../../../../../../shared/matching/rule.ts';
import { comment, post } from './item-case.ts';
import type { ItemCase } from './item-case.ts';

type Groups = NonNullable<Rule['require']>;

function row(what: string, require: Groups, item: MatchItem, isFound: boolean, more: Partial<Rule> = {}): ItemCase {
  return { rule: `25 ${what}`, monitor: { require, ...more }, item, expected: isFound ? ['rust'] : undefined };
}
const JOBS = ['hiring', 'job'];
const PLACES = ['remote', 'new york'];

export const REQUIRED_CASES: readonly ItemCase[] = [
  row('one group', [JOBS], comment('a rust job'), true),
  row('both terms of a group', [JOBS], comment('hiring for a rust job'), true),
  row('two groups', [JOBS, PLACES], comment('rust job, remote'), true),
  row('in different texts', [JOBS, PLACES], post('Rust job', 'in New York'), true),
  row('the same term in two groups', [JOBS, JOBS], comment('rust job'), true),
  row('the keyword itself', [['rust']], comment('rust'), true),
  row('a phrase', [['new york']], comment('rust in New-York'), true),
  row('no groups', [], comment('rust'), true),
  row('a prefix', [[{ text: 'hir', prefix: true }]], comment('rust: we are hiring'), true),
  row('case', [[{ text: 'IT', caseSensitive: true }]], comment('it is rust in IT'), true),
  row('in the title', [[{ text: 'job', in: ['title'] }]], post('Job', 'rust'), true),
  row('match_in counts for groups', [['job']], post('Rust job', ''), true, { matchIn: ['title'] }),
  row('five groups', [['a1'], ['b1'], ['c1'], ['d1'], ['e1']], comment('rust a1 b1 c1 d1 e1'), true),
  row('not met', [JOBS], comment('rust'), false),
  row('only the first group', [JOBS, PLACES], comment('rust job'), false),
  row('only the second group', [JOBS, PLACES], comment('rust, remote'), false),
  row('without the keyword', [JOBS], comment('job'), false),
  row('four of five groups', [['a1'], ['b1'], ['c1'], ['d1'], ['e1']], comment('rust a1 b1 d1 e1'), false),
  row('a longer word', [JOBS], comment('rust jobs'), false),
  row('another case', [[{ text: 'IT', caseSensitive: true }]], comment('rust it'), false),
  row('not in the title', [[{ text: 'job', in: ['title'] }]], post('Rust', 'job'), false),
  row('match_in limits groups', [['job']], post('Rust', 'job'), false, { matchIn: ['title'] }),
  row('an excluded term', [JOBS], comment('rust job, no go'), false, { exclude: ['go'] }),
  row('a group with nothing to search for', [JOBS, ['""']], comment('rust job'), false),
  row('a group without terms', [[]], comment('rust'), false),
  {
    rule: '25 hits of a group are not named',
    monitor: { keywords: ['rust', 'go'], require: [['go', 'job']] },
    item: comment('go job rust'),
    expected: ['rust', 'go'],
  },
];
