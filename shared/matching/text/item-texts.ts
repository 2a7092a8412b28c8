import type { MatchItem, MatchPosition } from '../rule.ts';

/** The texts of an item by number, as found terms name them. */
export const FIELDS: readonly MatchPosition['field'][] = ['title', 'text'];

/** Whether the text is what the upstream site puts in place of one that is gone. */
function isGone(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === '[deleted]' || trimmed === '[removed]';
}

/**
 * Calls `take` for each text that decides, each by itself: a phrase never goes across. `field` is its number in FIELDS.
 */
export function forEachText(item: MatchItem, take: (text: string, field: number) => void): void {
  if (item.kind === 'post') take(item.title, 0);
  if (!isGone(item.text)) take(item.text, 1);
}
