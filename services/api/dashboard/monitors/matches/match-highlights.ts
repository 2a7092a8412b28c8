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

const ALL_ITEMS = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };

/**
 * Finds where the terms of matches occur: those of the rule, and those that an earlier version of it had. Building the
 * index of a long rule takes milliseconds, so one serves all matches of a page or a stream.
 */
export function matchHighlighter({ keywords, terms = [], matchIn }: Rule): (match: MonitorMatch) => Highlights {
  const known = new Set([...keywords, ...terms.map(({ text }) => text)]);
  const index = new MonitorIndex();
  index.set('rule', { ...ALL_ITEMS, keywords, terms, ...(matchIn && { matchIn }) });
  return (match) => {
    const highlights: Highlights = { title: [], body: [] };
    addHighlights(highlights, index, match);
    const earlier = match.matched_terms.filter((term) => !known.has(term)).slice(0, MAX_EARLIER_TERMS);
    if (earlier.length > 0) addHighlights(highlights, indexOfEarlier(earlier), match);
    return highlights;
  };
}

function indexOfEarlier(keywords: string[]): MonitorIndex {
  const index = new MonitorIndex();
  index.set('earlier', { ...ALL_ITEMS, keywords, matchIn: ['title', 'body', 'post_title'] });
  return index;
}

/** Adds where the index finds terms that the match has. */
function addHighlights(highlights: Highlights, index: MonitorIndex, match: MonitorMatch): void {
  const named = new Set(match.matched_terms);
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
}
