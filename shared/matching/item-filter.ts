import type { MatchItem, Rule, Mute } from './rule.ts';
import { authorKey, subredditKey } from './validate-rule.ts';

/** The filters that can reject an item whatever its texts contain. */
export type FilterName =
  'kind' | 'nsfw' | 'subreddit' | 'subreddit_excluded' | 'author' | 'author_excluded' | 'language';

/** The filters of a rule or an item as bits. An item passes if the rule has all of the item's bits. */
const POSTS = 1;
const COMMENTS = 2;
const NSFW = 4;
/** The rule names communities, so the item's community must be checked as well. */
export const NAMES_SUBREDDITS = 8;
/** The rule has one of the lists that most rules do not have. */
export const HAS_LISTS = 16;
/** The bits from here on are free for other uses. */
export const FILTER_BITS = 5;

/** The filters of a rule in three parts. The bits alone decide nearly every item. */
interface RuleFilter {
  readonly bits: number;
  /** Undefined means all communities. */
  readonly subreddits: ReadonlySet<string> | undefined;
  /** Undefined if the rule has none of them. */
  readonly lists: RuleLists | undefined;
}

/** Lists of names and codes as they are compared. Undefined ones are unused. */
export interface RuleLists {
  readonly excludedSubreddits: ReadonlySet<string> | undefined;
  readonly authors: ReadonlySet<string> | undefined;
  readonly excludedAuthors: ReadonlySet<string> | undefined;
  readonly languages: ReadonlySet<string> | undefined;
}

/** The name of all deleted accounts. It equals no name of a list. */
const DELETED = '[deleted]';
/** The language of texts for which it is not decided. */
const UNDECIDED = 'und';

export function filterOf(rule: Rule): RuleFilter {
  const namesSubreddits = rule.subreddits.length > 0;
  const lists = listsOf(rule);
  return {
    bits:
      (rule.posts ? POSTS : 0) |
      (rule.comments ? COMMENTS : 0) |
      (rule.nsfw ? NSFW : 0) |
      (namesSubreddits ? NAMES_SUBREDDITS : 0) |
      (lists === undefined ? 0 : HAS_LISTS),
    subreddits: namesSubreddits ? new Set(rule.subreddits.map(subredditKey)) : undefined,
    lists,
  };
}

function listsOf({ excludeSubreddits, authors, excludeAuthors, languages }: Rule): RuleLists | undefined {
  if ((excludeSubreddits ?? authors ?? excludeAuthors ?? languages) === undefined) return undefined;
  const lists: RuleLists = {
    excludedSubreddits: setOf(excludeSubreddits, subredditKey),
    authors: setOf(authors, authorKey),
    excludedAuthors: setOf(excludeAuthors, authorKey),
    languages: setOf(languages, (code) => code),
  };
  return Object.values(lists).every((list) => list === undefined) ? undefined : lists;
}

/** Undefined for an absent or empty list. */
function setOf(list: readonly string[] | undefined, keyOf: (text: string) => string): Set<string> | undefined {
  return list === undefined || list.length === 0 ? undefined : new Set(list.map(keyOf));
}

/** The properties of an item that the filters check. */
export interface FilteredItem {
  readonly bits: number;
  readonly subreddit: string;
  /** Undefined if it is not known or deleted. */
  readonly author: string | undefined;
  readonly language: string;
}

export function filteredItem({ kind, nsfw, subreddit, author, language }: MatchItem): FilteredItem {
  return {
    bits: (kind === 'post' ? POSTS : COMMENTS) | (nsfw ? NSFW : 0),
    subreddit: subredditKey(subreddit),
    author: author === undefined || author === DELETED ? undefined : authorKey(author),
    language: language ?? UNDECIDED,
  };
}

/** The filter that rejects the item, or undefined if none does. */
export function blockingFilter({ bits, subreddits, lists }: RuleFilter, item: FilteredItem): FilterName | undefined {
  const missing = item.bits & ~bits;
  if ((missing & (POSTS | COMMENTS)) !== 0) return 'kind';
  if ((missing & NSFW) !== 0) return 'nsfw';
  if (subreddits?.has(item.subreddit) === false) return 'subreddit';
  return lists === undefined ? undefined : blockingList(lists, item);
}

/** Whether the bits alone let the item pass. The lists of names are not checked. */
export function passesBits(bits: number, itemBits: number): boolean {
  return (itemBits & ~bits) === 0;
}

function blockingList(lists: RuleLists, { subreddit, author, language }: FilteredItem): FilterName | undefined {
  const { excludedSubreddits, authors, excludedAuthors, languages } = lists;
  if (excludedSubreddits?.has(subreddit) === true) return 'subreddit_excluded';
  if (authors !== undefined && (author === undefined || !authors.has(author))) return 'author';
  if (author !== undefined && excludedAuthors?.has(author) === true) return 'author_excluded';
  return languages?.has(language) === false ? 'language' : undefined;
}

/** The first of the mutes that applies to the item. Names are compared without prefix and case. */
export function muteOf(mutes: readonly Mute[], item: MatchItem): Mute | undefined {
  return mutes.find(({ kind, value }) => {
    if (kind === 'subreddit') return subredditKey(value) === subredditKey(item.subreddit);
    if (kind === 'author') return item.author !== undefined && authorKey(value) === authorKey(item.author);
    return item.postId !== undefined && threadKey(value) === threadKey(item.postId);
  });
}

/** The id of a post in the form in which it is compared: without `t3_`, in lower case. */
function threadKey(id: string): string {
  return id.trim().toLowerCase().replace(/^t3_/, '');
}
