import type { MatchItem, MatchPosition } from '../rule.ts';

/** The names of an item's texts, by the numbers that FoundTerms uses. */
export const FIELDS: readonly MatchPosition['field'][] = ['title', 'text'];

/** Whether the text is the upstream site's placeholder for a deleted text. */
function isDeleted(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === '[deleted]' || trimmed === '[removed]';
}

/** Calls `visit` for each text that is searched. No phrase spans two texts. `field` is the text's number in FIELDS. */
export function forEachText(item: MatchItem, visit: (text: string, field: number) => void): void {
  if (item.kind === 'post') visit(item.title, 0);
  if (!isDeleted(item.text)) visit(item.text, 1);
}
