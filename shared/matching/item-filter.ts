import type { MatchItem, Rule } from './rule.ts';
import { subredditKey } from './validate-rule.ts';

/** The filters that can reject an item whatever its texts contain. */
export type FilterName = 'kind' | 'nsfw' | 'subreddit';

/** The filters of a rule or an item as bits. An item passes if the rule has all of the item's bits. */
const POSTS = 1;
const COMMENTS = 2;
const NSFW = 4;
/** The rule names communities, so the item's community must be checked as well. */
export const NAMES_SUBREDDITS = 8;

/** The filters of a rule in two parts. The bits alone decide nearly every item. */
export interface RuleFilter {
  readonly bits: number;
  /** Undefined means all communities. */
  readonly subreddits: ReadonlySet<string> | undefined;
}

export function filterOf(rule: Rule): RuleFilter {
  const namesSubreddits = rule.subreddits.length > 0;
  return {
    bits:
      (rule.posts ? POSTS : 0) |
      (rule.comments ? COMMENTS : 0) |
      (rule.nsfw ? NSFW : 0) |
      (namesSubreddits ? NAMES_SUBREDDITS : 0),
    subreddits: namesSubreddits ? new Set(rule.subreddits.map(subredditKey)) : undefined,
  };
}

/** The properties of an item that the filters check. */
export interface FilteredItem {
  readonly bits: number;
  readonly subreddit: string;
}

export function filteredItem(item: MatchItem): FilteredItem {
  const bits = (item.kind === 'post' ? POSTS : COMMENTS) | (item.nsfw ? NSFW : 0);
  return { bits, subreddit: subredditKey(item.subreddit) };
}

/** The filter that rejects the item, or undefined if none does. */
export function blockingFilter(
  bits: number,
  subreddits: ReadonlySet<string> | undefined,
  item: FilteredItem,
): FilterName | undefined {
  const missing = item.bits & ~bits;
  if ((missing & (POSTS | COMMENTS)) !== 0) return 'kind';
  if (missing !== 0) return 'nsfw';
  return subreddits === undefined || subreddits.has(item.subreddit) ? undefined : 'subreddit';
}
