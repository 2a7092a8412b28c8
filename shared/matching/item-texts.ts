import type { MatchItem, MatchPosition } from './rule.ts';

/** The texts of an item by number, as found terms name them. */
export const FIELDS: readonly MatchPosition['field'][] = ['title', 'text'];

/** What the upstream site puts in place of a text that is gone. */
const GONE = new Set(['[deleted]', '[removed]']);

/** Calls `take` for each text that decides, each by itself: a phrase never goes across. `field` is its number in FIELDS. */
export function forEachText(item: MatchItem, take: (text: string, field: number) => void): void {
  if (item.kind === 'post') take(item.title, 0);
  if (!GONE.has(item.text.trim())) take(item.text, 1);
}
