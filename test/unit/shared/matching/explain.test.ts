import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from '../../../../shared/matching/explain.ts';
import type { TermExplanation } from '../../../../shared/matching/explain.ts';
import { matchOne } from '../../../../shared/matching/match-one.ts';
import { MonitorIndex } from '../../../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../../../shared/matching/rule.ts';
import { scene } from '../../../support/samples/matching-arbitraries.ts';
import { fold } from '../../../support/oracles/reference-fold.ts';
import { referenceBlocked, referenceSearch, referenceTerm } from '../../../support/oracles/reference-matcher.ts';

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

function expectTermsExplained(explained: TermExplanation[], terms: readonly string[], item: MatchItem): void {
  expect(explained.map(({ term }) => term)).toEqual(terms);
  explained.forEach(({ kind, sameAs, positions }, index) => {
    const written = terms[index] ?? '';
    const plain = referenceTerm(written);
    const twin = terms.slice(0, index).find((earlier) => plain !== '' && referenceTerm(earlier) === plain);
    expect(sameAs).toBe(twin);
    expect(kind === undefined).toBe(plain === '');
    const isDeleted = /^\s*\[(?:deleted|removed)\]\s*$/.test(item.text);
    const fields: ('title' | 'text')[] = [];
    if (item.kind === 'post' && referenceSearch(written)(fold(item.title))) fields.push('title');
    if (!isDeleted && referenceSearch(written)(fold(item.text))) fields.push('text');
    expect(positions.map(({ field }) => field)).toEqual(fields);
    for (const { field, start, end } of positions) {
      expect(start).toBeLessThan(end);
      expect(end).toBeLessThanOrEqual(item[field === 'text' ? 'text' : 'title'].length);
    }
  });
}

describe('explain', () => {
  test('agrees with matching for any rule and item', () => {
    let matching = 0;
    fc.assert(
      fc.property(scene(1, 3), ({ rules, items }) => {
        const rule = rules[0] ?? RULE;
        for (const item of items) {
          const explanation = explain(rule, item);
          const matched = matchOne(rule, item);
          expect(explanation.matches).toBe(matched !== undefined);
          expect(explanation.matchedTerms).toEqual(matched ?? []);
          expect(explanation.blockedBy).toBe(referenceBlocked(rule, item));
          expectTermsExplained(explanation.keywords, rule.keywords, item);
          expectTermsExplained(explanation.exclude, rule.exclude, item);
          if (matched !== undefined) matching++;
        }
      }),
      { numRuns: 800 },
    );
    expect(matching).toBeGreaterThan(150);
  });

  test('its first position is that of the match', () => {
    let compared = 0;
    fc.assert(
      fc.property(scene(1, 3), ({ rules, items }) => {
        const rule = rules[0] ?? RULE;
        const index = new MonitorIndex();
        index.set('one', rule);
        for (const item of items) {
          const [result] = index.match(item);
          if (result === undefined) continue;
          const first = new Map(
            explain(rule, item)
              .keywords.filter(({ sameAs }) => sameAs === undefined)
              .map(({ term, positions }) => [term, positions[0]]),
          );
          expect(result.positions).toEqual(result.matchedTerms.map((term) => first.get(term)));
          compared++;
        }
      }),
      { numRuns: 500 },
    );
    expect(compared).toBeGreaterThan(100);
  });

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

  test('does not search the title of a comment or a deleted text', () => {
    expect(explainTerms(['rust'], { ...POST, kind: 'comment' })[0]?.positions.map(({ field }) => field)).toEqual([
      'text',
    ]);
    expect(explainTerms(['removed'], { ...POST, text: '[removed]' })[0]?.positions).toEqual([]);
    expect(explainTerms(['removed'], { ...POST, title: 'a', text: '[removed]!' })[0]?.positions).toHaveLength(1);
  });

  test.each([
    ['rust', 'word'],
    ["don't", 'word'],
    ['rust_lang', 'word'],
    [' "Rust" ', 'word'],
    ['new york', 'phrase'],
    ["New  York\nTimes'", 'phrase'],
    ['e-mail', 'punctuation'],
    ["Wendy's", 'punctuation'],
    ["Wendy's burger", 'punctuation'],
    ['C++', 'punctuation'],
    ['C++ developer', 'punctuation'],
    ['crab 🦀', 'punctuation'],
    ['手机', 'characters'],
    ['手 机', 'characters'],
    ['iPhone手机', 'characters'],
    ['手+', 'characters'],
    ['iPhone 手机!', 'characters'],
    [':-)', 'symbols'],
    ['🦀', 'symbols'],
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

  test('names the first filter that rejects the item, and still shows the terms', () => {
    const nsfw: MatchItem = { ...POST, nsfw: true };
    const blockedBy = (rule: Partial<Rule>, item: MatchItem): string | undefined => {
      const explanation = explain({ ...RULE, ...rule }, item);
      expect(explanation.matches).toBe(explanation.blockedBy === undefined);
      expect(explanation.matchedTerms).toEqual(explanation.matches ? ['rust'] : []);
      expect(explanation.keywords[0]?.positions.length).toBeGreaterThan(0);
      return explanation.blockedBy;
    };
    expect(blockedBy({}, POST)).toBeUndefined();
    expect(blockedBy({ posts: false }, POST)).toBe('kind');
    expect(blockedBy({ posts: false }, { ...POST, kind: 'comment' })).toBeUndefined();
    expect(blockedBy({ comments: false }, { ...POST, kind: 'comment' })).toBe('kind');
    expect(blockedBy({ comments: false }, POST)).toBeUndefined();
    expect(blockedBy({}, nsfw)).toBe('nsfw');
    expect(blockedBy({ nsfw: true }, nsfw)).toBeUndefined();
    expect(blockedBy({ nsfw: true }, POST)).toBeUndefined();
    expect(blockedBy({ subreddits: ['rust'] }, POST)).toBe('subreddit');
    expect(blockedBy({ subreddits: ['rust', ' /R/Programming '] }, POST)).toBeUndefined();
    expect(blockedBy({ subreddits: ['programming'] }, { ...POST, subreddit: 'r/PROGRAMMING' })).toBeUndefined();
    expect(blockedBy({ posts: false, subreddits: ['rust'] }, nsfw)).toBe('kind');
    expect(blockedBy({ subreddits: ['rust'] }, nsfw)).toBe('nsfw');
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
