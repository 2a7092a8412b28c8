import { describe, expect, test } from 'vitest';
import { acquireRule } from '../../../../shared/matching/acquired-terms.ts';
import type { Rule, RuleTerm } from '../../../../shared/matching/rule.ts';
import { TermIndex } from '../../../../shared/matching/terms/term-index.ts';
import { isReferenced } from '../../../../shared/matching/terms/found-terms.ts';

const ANYWHERE = { subreddits: [], posts: true, comments: true, nsfw: true };

function plainRule(keywords: string[], exclude: string[] = []): Rule {
  return { ...ANYWHERE, keywords, exclude };
}

function conditionalRule(terms: RuleTerm[], exclude: string[] = []): Rule {
  return { ...plainRule([], exclude), terms };
}

describe('acquireRule', () => {
  test('keeps the first of equal keywords and those that have something to search for, in their order', () => {
    const index = new TermIndex();
    const { isPlain, wanted, exclude } = acquireRule(
      index,
      plainRule(['Rust', '" "', 'new york', 'rust', 'go'], ['" "', 'game']),
    );
    expect(isPlain).toBe(true);
    expect(wanted.written).toEqual(['Rust', 'new york', 'go']);
    expect(wanted.addresses).toEqual(['rust', 'new york', 'go'].map((term) => index.acquire(term)));
    expect(exclude.written).toEqual(['game']);
    expect(exclude.addresses).toEqual([index.acquire('game')]);
  });

  test('keeps terms with conditions that differ in the texts in which they count', () => {
    const { isPlain, wanted, exclude } = acquireRule(
      new TermIndex(),
      conditionalRule(
        [
          { text: 'rust', in: ['title'] },
          { text: '" "', in: ['title'] },
          { text: 'Rust', in: ['title'] },
          { text: 'rust', in: ['body'] },
        ],
        ['go', 'Go'],
      ),
    );
    expect(isPlain).toBe(false);
    expect(wanted.addresses).toHaveLength(2);
    expect(wanted.addresses[0]).toBe(wanted.addresses[1]);
    expect(new Set(wanted.texts).size).toBe(2);
    expect(exclude.addresses).toHaveLength(1);
  });

  test.each([
    ['plain', plainRule(['rust', 'Rust', 'RUST'])],
    [
      'conditional',
      conditionalRule([
        { text: 'rust', in: ['title'] },
        { text: 'Rust', in: ['title'] },
      ]),
    ],
  ])('holds one reference for each term that it keeps, of a %s rule', (_, rule) => {
    const index = new TermIndex();
    const [address = 0] = acquireRule(index, rule).wanted.addresses;
    expect(isReferenced(index.heap, address)).toBe(true);
    index.release('rust');
    expect(isReferenced(index.heap, address)).toBe(false);
  });
});
