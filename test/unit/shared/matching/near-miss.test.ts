import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explain } from '../../../../shared/matching/explain.ts';
import type { NearMiss, NearMissReason } from '../../../../shared/matching/near-miss.ts';
import type { MatchItem, RuleTerm } from '../../../../shared/matching/rule.ts';
import { scene } from '../../../support/samples/matching-arbitraries.ts';

const OPEN = { exclude: [], subreddits: [], posts: true, comments: true, nsfw: true };
const COMMENT: MatchItem = { kind: 'comment', title: 'About Go', text: '', subreddit: 'a', nsfw: false };

function nearest(term: string | RuleTerm, text: string): NearMiss | undefined {
  const [keywords, terms] = typeof term === 'string' ? [[term], []] : [[], [term]];
  const explanation = explain({ ...OPEN, keywords, terms }, { ...COMMENT, text });
  const [explained] = [...explanation.keywords, ...explanation.terms];
  expect(explained?.positions).toEqual([]);
  return explained?.nearest;
}

/** [term, text, reason, the piece] */
const CASES: readonly (readonly [string | RuleTerm, string, NearMissReason, string])[] = [
  ['rust', 'my rusty car', 'inside_word', 'rusty'],
  ['rust', 'do you trust it', 'inside_word', 'trust'],
  [{ text: 'hir', prefix: true }, 'a red shirt', 'inside_word', 'shirt'],
  ['new york', 'renew yorkshire pudding', 'inside_word', 'renew yorkshire'],
  ['new york', 'new, york', 'punctuation', 'new, york'],
  ['C++', 'I like C a lot', 'punctuation', 'C'],
  ['C', 'C++ code', 'punctuation', 'C+'],
  ['$TSLA', 'TSLA falls', 'punctuation', 'TSLA'],
  ['手机', '手，机', 'punctuation', '手，机'],
  ['e-mail', 'send an Email', 'joined', 'Email'],
  ['email', 'send an e-mail', 'split', 'e-mail'],
  ['café', 'a cafe here', 'accents', 'cafe'],
  ['cafe', 'a caf&eacute; café', 'accents', 'caf&eacute;'],
  ['kubernetes', 'kuberentes is hard', 'similar_word', 'kuberentes'],
  ['memory safety', 'safety of memory', 'apart', 'memory'],
  ['memory safety tools', 'memory leaks', 'some_words', 'memory'],
  [{ text: 'IT', caseSensitive: true }, 'is it', 'case', 'it'],
  ['go', 'nothing here', 'other_text', 'Go'],
  [{ text: 'rust', in: ['title'] }, 'rust', 'other_text', 'rust'],
];

describe('what is nearest to a term that does not occur', () => {
  test.each(CASES)('%j in %j: %s', (term, text, reason, written) => {
    const found = nearest(term, text);
    expect(found).toMatchObject({ reason, written });
  });

  test('names the words that are missing', () => {
    expect(nearest('memory safety tools', 'memory leaks')?.missing).toEqual(['safety', 'tools']);
  });

  test.each([
    ['rust', 'nothing of the kind'],
    ['cat', 'a car'],
    [':-)', ':-('],
    ['手机', '电脑'],
  ])('%j in %j: nothing', (term, text) => {
    expect(nearest(term, text)).toBeUndefined();
  });

  test('is there only for terms that do not occur, and its piece is a part of the item', () => {
    let near = 0;
    fc.assert(
      fc.property(scene(1, 3), ({ rules, items }) => {
        for (const rule of rules) {
          for (const item of items) {
            const explanation = explain(rule, item);
            for (const { positions, nearest } of [...explanation.keywords, ...explanation.exclude]) {
              if (nearest === undefined) continue;
              near++;
              expect(positions).toEqual([]);
              const { field, start, end } = nearest.position;
              expect(start).toBeLessThan(end);
              expect(item[field === 'text' ? 'text' : 'title'].slice(start, end)).toBe(nearest.written);
            }
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(near).toBeGreaterThan(100);
  });
});
