import type { MatchItem } from '../../../shared/matching/rule.ts';
import type { CorpusItem } from './corpus.ts';
import { seededRandom } from './matcher-random.ts';

/**
 * Pieces are 64 to 162 characters long before they are cut back to the end of a word: about 106 bytes on the average.
 */
const SHORTEST = 64;
const LONGEST = 162;
const NSFW_SHARE = 0.05;

/**
 * At most `count` short pieces of the unchanged corpus, as items. The title of a post is the first part of its piece.
 */
export function cutItems(corpus: readonly CorpusItem[], count: number): MatchItem[] {
  const random = seededRandom(4);
  const items: MatchItem[] = [];
  for (const { kind, subreddit, text } of corpus) {
    for (let start = 0; start < text.length - SHORTEST;) {
      if (items.length === count) return items;
      const end = wordEnd(text, start, SHORTEST + Math.floor(random() * (LONGEST - SHORTEST)));
      const titleEnd = kind === 'post' ? wordEnd(text, start, Math.floor((end - start) / 3)) : start;
      const nsfw = random() < NSFW_SHARE;
      items.push({ kind, title: text.slice(start, titleEnd), text: text.slice(titleEnd, end), subreddit, nsfw });
      start = end;
    }
  }
  return items;
}

/** The end of the last complete word within `length` characters. Cuts within a word only if the text has no spaces. */
function wordEnd(text: string, start: number, length: number): number {
  if (start + length >= text.length) return text.length;
  const space = text.lastIndexOf(' ', start + length);
  if (space > start + length / 2) return space;
  const isWithinPair = (text.codePointAt(start + length - 1) ?? 0) > 0xffff;
  return start + length + (isWithinPair ? 1 : 0);
}

/** A comment of an arbitrary community. */
export function commentOf(text: string): MatchItem {
  return { kind: 'comment', title: '', text, subreddit: '', nsfw: false };
}
