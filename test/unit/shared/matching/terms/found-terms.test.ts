import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import {
  changeReferences,
  FoundTerms,
  postings,
  setPostings,
  TERM_SIZE,
} from '../../../../../shared/matching/terms/found-terms.ts';

describe('FoundTerms', () => {
  test('is a set that keeps the first occurrence and is empty after clear', () => {
    const heap = new IntHeap();
    const terms = Array.from({ length: 20 }, () => heap.allocate(TERM_SIZE));
    const found = new FoundTerms(heap);
    const pick = fc.record({ term: fc.nat(19), field: fc.constantFrom(0, 1), start: fc.nat(99), clears: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(pick, { maxLength: 60 }), (picks) => {
        found.clear();
        const model = new Map<number, number[]>();
        for (const { term: number, field, start, clears } of picks) {
          if (clears === 0) {
            found.clear();
            model.clear();
          }
          const term = terms[number] ?? 0;
          found.add(term, field, start, start + 5);
          if (!model.has(term)) model.set(term, [field, start, start + 5]);
          for (const each of terms) {
            expect(found.has(each)).toBe(model.has(each));
            const position = found.indexOf(each);
            expect(
              position < 0 ? undefined : [found.fields, found.starts, found.ends].map((list) => list.items[position]),
            ).toEqual(model.get(each));
          }
          expect(Array.from(found.terms.items.subarray(0, found.terms.length))).toEqual([...model.keys()]);
          expect([found.fields.length, found.starts.length, found.ends.length]).toEqual([
            model.size,
            model.size,
            model.size,
          ]);
        }
      }),
      { numRuns: 100 },
    );
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
