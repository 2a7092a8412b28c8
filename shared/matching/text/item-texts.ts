import type { MatchItem, MatchPosition, SearchedText } from '../rule.ts';

/** The texts of an item, by the numbers that FoundTerms uses. */
export const TEXTS: readonly MatchPosition['field'][] = ['title', 'text', 'post_title'];

/** The texts in which a rule searches if it says nothing else, a bit for each. */
export const USUAL_TEXTS = 0b011;
export const ALL_TEXTS = 0b111;
/** The title of a comment's post. */
export const POST_TITLE = 0b100;

const BITS: Readonly<Record<SearchedText, number>> = { title: 0b001, body: 0b010, post_title: POST_TITLE };

/** A bit for each of the texts. An absent or empty list means the usual ones. */
export function textBits(texts: readonly SearchedText[] | undefined, usual = USUAL_TEXTS): number {
  if (texts === undefined || texts.length === 0) return usual;
  return texts.reduce((bits, text) => bits | BITS[text], 0);
}

/** The number of the first text of a set that is not empty. */
export function firstText(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** Whether the text is the upstream site's placeholder for a deleted text. */
function isDeleted(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === '[deleted]' || trimmed === '[removed]';
}

/** Calls `visit` for each text that is searched. No phrase spans two texts. `text` is the number in TEXTS. */
export function forEachText(
  item: MatchItem,
  searchesPostTitle: boolean,
  visit: (written: string, text: number) => void,
): void {
  if (item.kind === 'post') visit(item.title, 0);
  if (!isDeleted(item.text)) visit(item.text, 1);
  if (searchesPostTitle && item.kind === 'comment') visit(item.title, 2);
}
