import type { MatchItem, Rule } from '../../../../../../shared/matching/rule.ts';

/** One row of rules 16 to 27 as data: a monitor, an item, and the matched terms. */
export interface ItemCase {
  /** The number of the rule and what the row shows of it. */
  rule: string;
  /** What differs from ITEM_CASE_RULE. */
  monitor: Partial<Rule>;
  item: MatchItem;
  /** The matched terms, or undefined for no match. */
  expected: readonly string[] | undefined;
}

/**
 * The monitor of a row that names nothing else: `rust` in posts and comments of all communities, without NSFW items.
 */
export const ITEM_CASE_RULE: Rule = {
  keywords: ['rust'],
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: false,
};

export function post(title: string, text: string): MatchItem {
  return { kind: 'post', title, text, subreddit: 'programming', nsfw: false };
}

export function comment(text: string, title = ''): MatchItem {
  return { kind: 'comment', title, text, subreddit: 'programming', nsfw: false };
}

/** A row whose item matches all of the keywords. */
export function found(rule: string, keywords: readonly string[], item: MatchItem): ItemCase {
  return { rule, monitor: { keywords }, item, expected: keywords };
}

/** A row whose item does not match. */
export function missed(rule: string, keywords: readonly string[], item: MatchItem): ItemCase {
  return { rule, monitor: { keywords }, item, expected: undefined };
}
