import { describe, expect, test } from 'vitest';
import { acquireTerms } from '../../../../shared/matching/acquired-terms.ts';
import { TermIndex } from '../../../../shared/matching/terms/term-index.ts';
import { isReferenced } from '../../../../shared/matching/terms/found-terms.ts';

const TITLE = 0b001;
const BODY = 0b010;

describe('acquireTerms', () => {
  test('keeps the first of equal terms and those that have something to search for, in their order', () => {
    const index = new TermIndex();
    const group = [
      { written: 'Rust', options: {}, texts: TITLE },
      { written: '" "', options: {}, texts: TITLE },
      { written: 'new york', options: {}, texts: TITLE },
      { written: 'rust', options: {}, texts: TITLE },
      { written: 'rust', options: {}, texts: BODY },
    ];
    const { terms, addresses } = acquireTerms(index, group);
    expect(terms).toEqual([group[0], group[2], group[4]]);
    expect(addresses).toHaveLength(3);
    expect(addresses[0]).toBe(addresses[2]);
  });

  test('holds one reference for each term that it keeps', () => {
    const index = new TermIndex();
    const term = { written: 'rust', options: {}, texts: TITLE };
    const [address = 0] = acquireTerms(index, [term, term, term]).addresses;
    expect(isReferenced(index.heap, address)).toBe(true);
    index.release('rust');
    expect(isReferenced(index.heap, address)).toBe(false);
  });
});
