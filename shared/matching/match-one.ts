import { MonitorIndex } from './monitor-index.ts';
import type { MatchItem, Rule } from './rule.ts';

/**
 * The keywords by which the item matches the rule, as they were written and in their order, or undefined when it does
 * not match. It is an index of one monitor, so that nothing can differ. For many items and one rule keep a MonitorIndex
 * instead: the rule is compiled at each call.
 */
export function matchOne(rule: Rule, item: MatchItem): string[] | undefined {
  const index = new MonitorIndex();
  index.set('one', rule);
  return index.match(item)[0]?.matchedTerms;
}
