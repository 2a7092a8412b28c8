/** A text in which terms are searched: `body` is that of a post or a comment, `post_title` that of a comment's post. */
export type SearchedText = 'title' | 'body' | 'post_title';

/** A keyword with conditions. Absent members mean the plain form. */
export interface RuleTerm {
  text: string;
  /** Also matches longer words that begin with `text`, which is a single word. */
  prefix?: boolean;
  caseSensitive?: boolean;
  /** Where it counts, instead of the rule's `matchIn`. */
  in?: readonly SearchedText[];
}

/** The conditions of a rule that most rules do not have. Each is absent when unused. */
export interface RuleRefinements {
  /** An item matches if it has at least one of them or of the keywords. */
  terms?: readonly RuleTerm[];
  /** Groups of terms; an item must have at least one of each group as well. */
  require?: readonly (readonly (string | RuleTerm)[])[];
  /** Where keywords, terms and `require` count; absent means `title` and `body`. It does not limit `exclude`. */
  matchIn?: readonly SearchedText[];
  /** Community names, like `subreddits`. */
  excludeSubreddits?: readonly string[];
  /** Names of accounts, in any case. `[deleted]` never equals one of them. */
  authors?: readonly string[];
  excludeAuthors?: readonly string[];
  /** ISO 639-1 codes; `und` for texts whose language is not decided. */
  languages?: readonly string[];
}

export interface Rule extends RuleRefinements {
  /** An item matches if it has at least one of them. */
  keywords: readonly string[];
  /** An item with any of them does not match, whatever keywords it has. */
  exclude: readonly string[];
  /** Community names, with or without `r/`, in any case. Empty means all communities. */
  subreddits: readonly string[];
  posts: boolean;
  comments: boolean;
  nsfw: boolean;
}

/** The properties of a post or comment that decide whether it matches. */
export interface MatchItem {
  kind: 'post' | 'comment';
  /** A comment has its post's title, in which only rules search that name `post_title`. */
  title: string;
  text: string;
  subreddit: string;
  nsfw: boolean;
  /** `[deleted]` when the account is deleted. */
  author?: string;
  /** An ISO 639-1 code; absent or `und` when it is not decided. */
  language?: string;
  /** The id of the post, or of the comment's post, with or without `t3_`. Only mutes of threads read it. */
  postId?: string;
}

/** A community, an account or a thread (the id of its post) of which a monitor wants nothing. */
export interface Mute {
  kind: 'subreddit' | 'author' | 'thread';
  value: string;
}

/**
 * The first occurrence of a term: UTF-16 code units [start, end) of the item's original title or text. The title of a
 * comment is `post_title`.
 */
export interface MatchPosition {
  field: 'title' | 'text' | 'post_title';
  start: number;
  end: number;
}

/** The texts of an item, by the numbers that FoundTerms uses. */
export const TEXTS: readonly MatchPosition['field'][] = ['title', 'text', 'post_title'];

/** The texts in which a rule searches if it says nothing else, a bit for each. */
export const USUAL_TEXTS = 0b011;
export const ALL_TEXTS = 0b111;
export const POST_TITLE = 0b100;

const BITS: Readonly<Record<SearchedText, number>> = { title: 0b001, body: 0b010, post_title: POST_TITLE };

/** A bit for each of the texts. An absent or empty list means the usual ones. */
export function textBits(texts: readonly SearchedText[] | undefined, usual = USUAL_TEXTS): number {
  if (texts === undefined || texts.length === 0) return usual;
  return texts.reduce((bits, text) => bits | BITS[text], 0);
}

export function firstText(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** What the forum shows in place of a removed text or title, in any case. ClickHouse reads it as well. */
export const REMOVED_TEXT = String.raw`^\s*\[ ?(?:deleted|removed)(?: by (?:user|moderator|reddit(?: (?:on account of|in response to) [^\n]{1,200})?))? ?\]\s*$`;
const LEFT_BRACKET = 0x5b;
const SPACE = 0x20;
const IS_REMOVED_TEXT = new RegExp(REMOVED_TEXT, 'i');

/** Whether a text is what the forum shows in place of one that was deleted or removed. */
export function isRemovedText(text: string): boolean {
  const first = text.charCodeAt(0);
  // Nearly every text begins with something else, and the comparison is faster than the expression.
  return (first === LEFT_BRACKET || first <= SPACE) && IS_REMOVED_TEXT.test(text);
}

/**
 * Calls `visit` for each text that is searched, none that was removed. No phrase spans two texts. `text`: see TEXTS.
 */
export function forEachText(
  item: MatchItem,
  searchesPostTitle: boolean,
  visit: (written: string, text: number) => void,
): void {
  if (item.kind === 'post' && !isRemovedText(item.title)) visit(item.title, 0);
  if (!isRemovedText(item.text)) visit(item.text, 1);
  if (searchesPostTitle && item.kind === 'comment' && !isRemovedText(item.title)) visit(item.title, 2);
}
