import type { MonitorMatch } from '../../../../../schemas/messages/monitor-match.ts';
import { MonitorIndex } from '../../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../../shared/matching/rule.ts';
import type { TextRange } from './marked-text.ts';

/** Where the terms of a match occur first in each text, in no order. */
export interface Highlights {
  title: TextRange[];
  body: TextRange[];
}

/** More than this many texts of earlier rules are not looked for. */
const MAX_EARLIER_TERMS = 100;

/** A match as the matcher saw it, as far as it is kept. */
export function itemOfMatch({ kind, title, body, subreddit, author, post_id: postId }: MonitorMatch): MatchItem {
  return { kind, title, text: body, subreddit, author, postId, nsfw: false };
}

/**
 * Finds where the terms of matches occur: those of the rule, and those that an earlier version of it had. One index
 * serves all matches of a page.
 */
export function matchHighlighter(
  { keywords, terms = [], matchIn }: Rule,
  matches: readonly MonitorMatch[],
): (match: MonitorMatch) => Highlights {
  const known = new Set([...keywords, ...terms.map(({ text }) => text)]);
  const earlier = new Set(matches.flatMap((match) => match.matched_terms).filter((term) => !known.has(term)));
  const index = new MonitorIndex();
  const all = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
  index.set('rule', { ...all, keywords, terms, ...(matchIn && { matchIn }) });
  const texts = [...earlier].slice(0, MAX_EARLIER_TERMS);
  index.set('earlier', { ...all, keywords: texts, matchIn: ['title', 'body', 'post_title'] });
  return (match) => {
    const named = new Set(match.matched_terms);
    const highlights: Highlights = { title: [], body: [] };
    const item = itemOfMatch(match);
    // The index tells only where a term occurs first, so each text is searched by itself.
    for (const part of [
      { ...item, text: '' },
      { ...item, title: '' },
    ]) {
      for (const { matchedTerms, positions } of index.match(part)) {
        positions.forEach(({ field, start, end }, number) => {
          if (!named.has(matchedTerms[number] ?? '')) return;
          highlights[field === 'text' ? 'body' : 'title'].push({ start, end });
        });
      }
    }
    return highlights;
  };
}
