import type { MatchItem, Rule } from './rule.ts';
import { subredditKey } from './validate-rule.ts';

/** What keeps an item from a monitor, whatever it says. */
export type FilterName = 'kind' | 'nsfw' | 'subreddit';

/** A rule's or an item's filters as bits: an item passes when its rule has all of its bits. */
const POSTS = 1;
const COMMENTS = 2;
const NSFW = 4;
/** The community has to be looked at, too. */
export const WITHIN = 8;

/** The filters of a rule, in two parts, so that nearly every item is decided by the first. */
export interface RuleFilter {
  readonly bits: number;
  /** Undefined: every community. */
  readonly subreddits: ReadonlySet<string> | undefined;
}

export function filterOf(rule: Rule): RuleFilter {
  const isWithin = rule.subreddits.length > 0;
  return {
    bits: (rule.posts ? POSTS : 0) | (rule.comments ? COMMENTS : 0) | (rule.nsfw ? NSFW : 0) | (isWithin ? WITHIN : 0),
    subreddits: isWithin ? new Set(rule.subreddits.map(subredditKey)) : undefined,
  };
}

/** An item as filters see it. */
export interface FilteredItem {
  readonly bits: number;
  readonly subreddit: string;
}

export function filteredItem(item: MatchItem): FilteredItem {
  const bits = (item.kind === 'post' ? POSTS : COMMENTS) | (item.nsfw ? NSFW : 0);
  return { bits, subreddit: subredditKey(item.subreddit) };
}

/** The filter that keeps the item away; undefined: none does. */
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
