import { MonitorIndex } from './monitor-index.ts';
import type { MatchItem, Rule } from './rule.ts';

/**
 * Returns the keywords by which the item matches the rule, as written and in their order, or undefined if it does not
 * match. It uses an index of one monitor, so it cannot differ from live matching. Each call compiles the rule: to match
 * many items against one rule, keep a MonitorIndex instead.
 */
export function matchOne(rule: Rule, item: MatchItem): string[] | undefined {
  const index = new MonitorIndex();
  index.set('one', rule);
  return index.match(item)[0]?.matchedTerms;
}
