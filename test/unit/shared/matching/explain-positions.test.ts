import fc from 'fast-check';
import { expect, test } from 'vitest';
import { explain, positionsOfTerm } from '../../../../shared/matching/explain.ts';
import { hostileMatch } from '../../../support/samples/chat-matches.ts';

const EVERYWHERE = {
  exclude: [],
  subreddits: [],
  posts: true,
  comments: true,
  nsfw: true,
  matchIn: ['title', 'body', 'post_title'] as const,
};

test('a term is where a rule with it finds it in any text: as a whole, or else as the beginning of a word', () => {
  fc.assert(
    fc.property(
      hostileMatch,
      fc.constantFrom('rust', 'rus', 'hir', '"new york"', '水', ''),
      fc.boolean(),
      ({ match }, own, isOwn) => {
        const term = isOwn ? own : (match.matched_terms[0] ?? '');
        const item = { kind: match.kind, title: match.title, text: match.body, subreddit: '', nsfw: false };
        const rule = { ...EVERYWHERE, matchIn: [...EVERYWHERE.matchIn] };
        const explained = explain({ ...rule, keywords: [term], terms: [{ text: term, prefix: true }] }, item);
        const [whole, prefix] = [...explained.keywords, ...explained.terms];
        const expected = whole!.positions.length > 0 ? whole!.positions : prefix!.positions;
        expect(positionsOfTerm(term, item)).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});
