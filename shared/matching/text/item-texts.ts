import type { MatchItem, MatchPosition, SearchedText } from '../rule.ts';

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
export const GONE_TEXT = String.raw`^\s*\[ ?(?:deleted|removed)(?: by (?:user|moderator|reddit(?: (?:on account of|in response to) [^\n]{1,200})?))? ?\]\s*$`;
const LEFT_BRACKET = 0x5b;
const SPACE = 0x20;
const IS_GONE_TEXT = new RegExp(GONE_TEXT, 'i');

/** Whether a text is what the forum shows in place of one that was deleted or removed. */
export function isRemovedText(text: string): boolean {
  const first = text.charCodeAt(0);
  // Nearly every text begins with something else, and the comparison is faster than the expression.
  return (first === LEFT_BRACKET || first <= SPACE) && IS_GONE_TEXT.test(text);
}

/** Calls `visit` for each text that is searched, none that is gone. No phrase spans two texts. `text`: see TEXTS. */
export function forEachText(
  item: MatchItem,
  searchesPostTitle: boolean,
  visit: (written: string, text: number) => void,
): void {
  if (item.kind === 'post' && !isRemovedText(item.title)) visit(item.title, 0);
  if (!isRemovedText(item.text)) visit(item.text, 1);
  if (searchesPostTitle && item.kind === 'comment' && !isRemovedText(item.title)) visit(item.title, 2);
}
