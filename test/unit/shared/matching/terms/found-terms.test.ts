import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import {
  changeReferences,
  countOf,
  FoundTerms,
  postings,
  setPostings,
  signatureOf,
  TERM_SIZE,
} from '../../../../../shared/matching/terms/found-terms.ts';

describe('FoundTerms', () => {
  test('is a set that keeps the first occurrence in each text and is empty after clear', () => {
    const heap = new IntHeap();
    const terms = Array.from({ length: 20 }, () => heap.allocate(TERM_SIZE));
    const found = new FoundTerms(heap);
    const pick = fc.record({ term: fc.nat(19), text: fc.constantFrom(0, 1, 2), start: fc.nat(99), clears: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(pick, { maxLength: 60 }), (picks) => {
        found.clear();
        const model = new Map<number, Map<number, { start: number; end: number }>>();
        for (const { term: number, text, start, clears } of picks) {
          if (clears === 0) {
            found.clear();
            model.clear();
          }
          const term = terms[number] ?? 0;
          found.add(term, text, start, start + 5);
          const known = model.get(term) ?? new Map<number, { start: number; end: number }>();
          model.set(term, known);
          if (!known.has(text)) known.set(text, { start, end: start + 5 });
          for (const each of terms) {
            const expected = model.get(each);
            expect(found.has(each)).toBe(expected !== undefined);
            const index = found.indexOf(each);
            for (const number of [0, 1, 2]) {
              expect(found.hasIn(each, 1 << number)).toBe(expected?.has(number) === true);
              if (expected?.has(number) === true) expect(found.position(index, number)).toEqual(expected.get(number));
            }
            expect(found.hasIn(each, 0b101)).toBe(expected?.has(0) === true || expected?.has(2) === true);
          }
          expect(Array.from(found.terms.items.subarray(0, found.terms.length))).toEqual([...model.keys()]);
          expect(found.texts.length).toBe(model.size);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('never denies a term of a signature that was found', () => {
    const heap = new IntHeap();
    const terms = Array.from({ length: 300 }, () => heap.allocate(TERM_SIZE));
    const found = new FoundTerms(heap);
    let wrong = 0;
    terms.forEach((term, number) => {
      const [next = 0, third = 0] = [terms[(number + 1) % 300], terms[(number + 2) % 300]];
      found.clear();
      found.add(term, 0, 0, 1);
      expect(found.mayHaveAny(signatureOf([term]))).toBe(true);
      expect(found.mayHaveAny(signatureOf([term, next]))).toBe(true);
      expect(found.mayHaveAny(signatureOf([next, term]))).toBe(true);
      if (found.mayHaveAny(signatureOf([next, third]))) wrong++;
    });
    expect(wrong).toBeLessThan(10);
    expect([[], [1], [1, 2]].map((list) => countOf(signatureOf(list)))).toEqual([0, 1, 2]);
  });

  test('a record stores its postings and its reference count separately', () => {
    const heap = new IntHeap();
    const [term, other] = [heap.allocate(TERM_SIZE), heap.allocate(TERM_SIZE)];
    setPostings(heap, term, 77);
    expect(changeReferences(heap, term, 1)).toBe(1);
    expect(changeReferences(heap, term, 1)).toBe(2);
    expect(changeReferences(heap, term, -1)).toBe(1);
    expect([postings(heap, term), postings(heap, other)]).toEqual([77, 0]);
  });
});
