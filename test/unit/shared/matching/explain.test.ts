import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain, positionsOfTerm } from '../../../../shared/matching/explain.ts';
import type { TermExplanation } from '../../../../shared/matching/explain.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { hostileMatch } from '../../../support/samples/chat-matches.ts';

const RULE: Rule = { keywords: ['rust'], exclude: [], subreddits: [], posts: true, comments: true, nsfw: false };
const POST: MatchItem = {
  kind: 'post',
  title: 'Rust, 2',
  text: 'all about rust',
  subreddit: 'programming',
  nsfw: false,
};

function explainTerms(keywords: string[], item: MatchItem = POST): TermExplanation[] {
  return explain({ ...RULE, keywords }, item).keywords;
}

describe('explain', () => {
  test('shows the first occurrence of a term in the title and in the text', () => {
    expect(explainTerms(['rust', 'about', 'go'])).toEqual([
      {
        term: 'rust',
        kind: 'word',
        sameAs: undefined,
        positions: [
          { field: 'title', start: 0, end: 4 },
          { field: 'text', start: 10, end: 14 },
        ],
      },
      { term: 'about', kind: 'word', sameAs: undefined, positions: [{ field: 'text', start: 4, end: 9 }] },
      { term: 'go', kind: 'word', sameAs: undefined, positions: [] },
    ]);
  });

  test.each([
    ['rust', 'word'],
    ['rust_lang', 'word'],
    [' "Rust" ', 'word'],
    ['new york', 'phrase'],
    ['e-mail', 'punctuation'],
    ["Wendy's", 'punctuation'],
    ['C++', 'punctuation'],
    ['crab 🦀', 'punctuation'],
    ['手机', 'characters'],
    ['iPhone手机', 'characters'],
    [':-)', 'symbols'],
    ['+ -', 'symbols'],
    ['', undefined],
    [' _"\u200b"_ ', undefined],
  ] as const)('%j is searched as %s', (term, kind) => {
    expect(explainTerms([term])[0]?.kind).toBe(kind);
  });

  test('names the earlier term that counts instead, and shows the positions of both', () => {
    const [first, second, other, third] = explainTerms(['Rust', '"rust"', 'go', 'RUST']);
    expect([first?.sameAs, second?.sameAs, other?.sameAs, third?.sameAs]).toEqual([
      undefined,
      'Rust',
      undefined,
      'Rust',
    ]);
    expect(second?.positions).toEqual(first?.positions);
    expect(third?.positions).toHaveLength(2);
    expect(explainTerms(['', '"', '_']).map(({ sameAs }) => sameAs)).toEqual([undefined, undefined, undefined]);
    expect(explain({ ...RULE, exclude: ['Rust'] }, POST).exclude[0]?.sameAs).toBeUndefined();
  });

  test('shows the exclude that rejects the item', () => {
    const explanation = explain({ ...RULE, exclude: ['go', 'all about', ''] }, POST);
    expect(explanation.matches).toBe(false);
    expect(explanation.matchedTerms).toEqual([]);
    expect(explanation.blockedBy).toBeUndefined();
    expect(explanation.exclude).toEqual([
      { term: 'go', kind: 'word', sameAs: undefined, positions: [] },
      { term: 'all about', kind: 'phrase', sameAs: undefined, positions: [{ field: 'text', start: 0, end: 9 }] },
      { term: '', kind: undefined, sameAs: undefined, positions: [] },
    ]);
    expect(explanation.keywords[0]?.positions).toHaveLength(2);
  });

  test('names the mute that applies, and the filter that rejects the item before it', () => {
    const mute = { kind: 'subreddit', value: 'r/Programming' } as const;
    const muted = explain(RULE, POST, [{ kind: 'author', value: 'programming' }, mute]);
    expect(muted).toMatchObject({ matches: false, matchedTerms: [], blockedBy: 'muted', mutedBy: mute });
    expect(muted.keywords[0]?.positions).toHaveLength(2);
    expect(explain({ ...RULE, posts: false }, POST, [mute])).toMatchObject({ blockedBy: 'kind', mutedBy: mute });
    const free = explain(RULE, POST, [{ kind: 'subreddit', value: 'rust' }]);
    expect(free).toMatchObject({ matches: true, blockedBy: undefined, mutedBy: undefined });
  });
});

const EVERYWHERE = ['title', 'body', 'post_title'] as const;

test('a term is where a rule with it finds it in any text: as a whole, or else as the beginning of a word', () => {
  fc.assert(
    fc.property(
      hostileMatch,
      fc.constantFrom('rust', 'rus', 'hir', '"new york"', '水', ''),
      fc.boolean(),
      ({ match }, own, isOwn) => {
        const term = isOwn ? own : (match.matched_terms[0] ?? '');
        const item = { kind: match.kind, title: match.title, text: match.body, subreddit: '', nsfw: false };
        const rule = { ...RULE, nsfw: true, matchIn: [...EVERYWHERE] };
        const explained = explain({ ...rule, keywords: [term], terms: [{ text: term, prefix: true }] }, item);
        const [whole, prefix] = [...explained.keywords, ...explained.terms];
        const expected = whole!.positions.length > 0 ? whole!.positions : prefix!.positions;
        expect(positionsOfTerm(term, item)).toEqual(expected);
      },
    ),
    { numRuns: 60 },
  );
});
