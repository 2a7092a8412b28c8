import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { postings, TERM_SIZE } from '../../../../../shared/matching/terms/found-terms.ts';
import {
  CONDITIONAL_POSTING,
  firstConditional,
  isHeader,
  link,
  linkConditional,
  monitorOf,
  nextPosting,
  POSTING,
  textsOf,
  unlink,
  unlinkConditional,
} from '../../../../../shared/matching/terms/monitor-postings.ts';

interface Listed {
  plain: number[];
  conditional: { monitor: number; texts: number }[];
}

/** What the search sees, the last added posting first. */
function listed(heap: IntHeap, term: number): Listed {
  const { plain, conditional }: Listed = { plain: [], conditional: [] };
  let posting = postings(heap, term);
  if (isHeader(heap, posting)) {
    for (let each = firstConditional(heap, posting); each !== 0; each = nextPosting(heap, each)) {
      conditional.push({ monitor: monitorOf(heap, each), texts: textsOf(heap, each) });
    }
    posting = nextPosting(heap, posting);
  }
  for (; posting !== 0; posting = nextPosting(heap, posting)) plain.push(monitorOf(heap, posting));
  return { plain, conditional };
}

describe('the postings of a term', () => {
  test('are two lists, of which each posting can be removed at any time', () => {
    const step = fc.record({ isConditional: fc.boolean(), texts: fc.integer({ min: 1, max: 7 }), removes: fc.nat(9) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const heap = new IntHeap();
        const term = heap.allocate(TERM_SIZE);
        const model: { posting: number; monitor: number; texts: number | undefined }[] = [];
        steps.forEach(({ isConditional, texts, removes }, number) => {
          const monitor = 1000 + number;
          if (removes < 4 && model.length > 0) {
            const [removed] = model.splice(removes % model.length, 1);
            if (removed?.texts === undefined) unlink(heap, removed?.posting ?? 0);
            else unlinkConditional(heap, removed.posting);
          } else if (isConditional) {
            const posting = heap.allocate(CONDITIONAL_POSTING);
            linkConditional(heap, posting, monitor, term, texts);
            model.unshift({ posting, monitor, texts });
          } else {
            const posting = heap.allocate(POSTING);
            link(heap, posting, monitor, term);
            model.unshift({ posting, monitor, texts: undefined });
          }
          expect(listed(heap, term)).toEqual({
            plain: model.filter((each) => each.texts === undefined).map((each) => each.monitor),
            conditional: model
              .filter((each) => each.texts !== undefined)
              .map((each) => ({ monitor: each.monitor, texts: each.texts })),
          });
        });
      }),
    );
  });

  test('have a header only while there are conditional ones, and free it', () => {
    const heap = new IntHeap();
    const term = heap.allocate(TERM_SIZE);
    const plain = heap.allocate(POSTING);
    const conditional = heap.allocate(CONDITIONAL_POSTING);
    link(heap, plain, 1, term);
    expect(isHeader(heap, postings(heap, term))).toBe(false);
    linkConditional(heap, conditional, 2, term, 1);
    const header = postings(heap, term);
    expect(isHeader(heap, header)).toBe(true);
    unlinkConditional(heap, conditional);
    expect(postings(heap, term)).toBe(plain);
    linkConditional(heap, conditional, 2, term, 1);
    expect(postings(heap, term)).toBe(header);
    unlink(heap, plain);
    unlinkConditional(heap, conditional);
    expect(postings(heap, term)).toBe(0);
    expect(isHeader(heap, 0)).toBe(false);
  });
});
