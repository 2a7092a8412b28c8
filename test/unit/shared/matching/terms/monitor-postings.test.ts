import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { IntList } from '../../../../../shared/matching/tables/int-list.ts';
import { TERM_SIZE } from '../../../../../shared/matching/terms/found-terms.ts';
import { Hits } from '../../../../../shared/matching/terms/hits.ts';
import { MonitorPostings } from '../../../../../shared/matching/terms/monitor-postings.ts';

const TITLE = 0b001;
const BODY = 0b010;
const POST_TITLE = 0b100;
const USUAL = TITLE | BODY;
const MONITORS = 2000;

interface Entry {
  monitor: number;
  place: number;
  texts: number;
  isConditional: boolean;
}

function listOf(...values: number[]): IntList {
  const list = new IntList();
  for (const value of values) list.push(value);
  return list;
}

/** The lists of one term, and what must be in them. */
class Modelled {
  readonly heap = new IntHeap();
  readonly term = this.heap.allocate(TERM_SIZE);
  readonly entries: Entry[] = [];
  readonly hits: Hits;
  readonly postings = new MonitorPostings(this.heap, (monitor, from, to) => {
    const moved = this.entries.find((entry) => entry.place === from);
    expect(moved?.monitor).toBe(monitor);
    if (moved) moved.place = to;
  });

  constructor() {
    const rows = new IntList();
    rows.extend(4 * MONITORS);
    this.hits = new Hits(rows, 4);
  }

  add(monitor: number, texts: number, isConditional: boolean): void {
    const place = this.postings.add(this.term, monitor, texts, isConditional);
    expect(this.entries.map((entry) => entry.place)).not.toContain(place);
    this.entries.push({ monitor, place, texts, isConditional });
  }

  remove(position: number): void {
    const [entry] = this.entries.splice(position, 1);
    if (entry) this.postings.remove(this.term, entry.place, entry.isConditional);
  }

  /** The monitors that the search finds, with or without their terms, and what it cost. */
  found(texts: number, withTerms: boolean): { monitors: number[]; places: number[]; steps: number } {
    const { hits } = this;
    hits.clear();
    const found = { terms: listOf(this.term), texts: listOf(texts) };
    const steps = this.postings.collect(found, hits, withTerms);
    const monitors = [...hits.monitors.items.subarray(0, hits.monitors.length)];
    const places = withTerms ? monitors.flatMap((_, index) => hits.of(index).map(({ place }) => place)) : [];
    return { monitors: sorted(monitors), places: sorted(places), steps };
  }

  check(): void {
    for (const texts of [TITLE, BODY, POST_TITLE, USUAL | POST_TITLE]) {
      const read = this.entries.filter(({ isConditional }) => isConditional || (texts & USUAL) !== 0);
      const counting = read.filter((entry) => (entry.texts & texts) !== 0);
      const monitors = sorted(new Set(counting.map(({ monitor }) => monitor)));
      const places = sorted(counting.map(({ place }) => place));
      expect(this.found(texts, true)).toEqual({ monitors, places, steps: read.length });
      expect(this.found(texts, false)).toEqual({ monitors, places: [], steps: read.length });
    }
    for (const { place, texts } of this.entries) expect(this.postings.texts(place)).toBe(texts);
  }
}

const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((one, other) => one - other);

describe('the postings of a term', () => {
  test('are two lists, of which each entry can be removed at any time', () => {
    const step = fc.record({
      isConditional: fc.boolean(),
      texts: fc.integer({ min: 1, max: 7 }),
      // Few monitors: one may be twice in the list of the conditional ones.
      monitor: fc.nat(9),
      removes: fc.nat(99),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const modelled = new Modelled();
        for (const { isConditional, texts, monitor, removes } of steps) {
          if (removes < 40 && modelled.entries.length > 0) modelled.remove(removes % modelled.entries.length);
          else modelled.add(monitor, isConditional ? texts : USUAL, isConditional);
          modelled.check();
        }
      }),
    );
  });

  test.each([
    ['oldest', () => 0],
    ['newest', (length: number) => length - 1],
    ['inner', (length: number) => Math.floor(length / 3)],
  ])('may be many, over chunks of all sizes, whichever is removed: the %s', (_, pick) => {
    const modelled = new Modelled();
    for (let monitor = 0; monitor < 700; monitor++) modelled.add(monitor, USUAL, false);
    modelled.check();
    const { bytes } = modelled.heap;
    while (modelled.entries.length > 0) {
      modelled.remove(pick(modelled.entries.length));
      if (modelled.entries.length % 50 < 3) modelled.check();
    }
    for (let monitor = 0; monitor < 700; monitor++) modelled.add(monitor, USUAL, false);
    modelled.check();
    expect(modelled.heap.bytes).toBe(bytes);
  });

  test('take no memory for one monitor, also after there were conditional ones', () => {
    const modelled = new Modelled();
    modelled.add(7, USUAL, false);
    expect(modelled.entries[0]?.place).toBe(modelled.term);
    modelled.add(8, TITLE, true);
    modelled.check();
    modelled.remove(1);
    expect(modelled.entries[0]?.place).toBe(modelled.term);
    modelled.remove(0);
    expect(modelled.heap.get(modelled.term)).toBe(0);
  });

  test('are collected for all found terms at once, each in the texts in which it was found', () => {
    const { heap, hits, term: plain } = new Modelled();
    const postings = new MonitorPostings(heap, () => undefined);
    const [both, alone, unfound] = [0, 0, 0].map(() => heap.allocate(TERM_SIZE)) as [number, number, number];
    for (let monitor = 0; monitor < 300; monitor++) postings.add(plain, monitor, USUAL, false);
    for (let monitor = 290; monitor < 310; monitor++) postings.add(both, monitor, USUAL, false);
    for (let monitor = 400; monitor < 420; monitor++) postings.add(both, monitor, POST_TITLE, true);
    postings.add(alone, 500, USUAL, false);
    for (let monitor = 600; monitor < 603; monitor++) postings.add(unfound, monitor, USUAL, false);
    const found = { terms: listOf(alone, both, plain), texts: listOf(BODY, BODY | POST_TITLE, TITLE) };
    for (const withTerms of [true, false]) {
      hits.clear();
      expect(postings.collect(found, hits, withTerms)).toBe(300 + 20 + 20 + 1);
      const monitors = [...hits.monitors.items.subarray(0, hits.monitors.length)];
      const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
      expect(sorted(monitors)).toEqual([...range(0, 310), ...range(400, 420), 500]);
      const foundOf = (monitor: number) => sorted(hits.of(monitors.indexOf(monitor)).map((hit) => hit.found));
      if (withTerms) expect([0, 295, 305, 410, 500].map(foundOf)).toEqual([[2], [1, 2], [1], [1], [0]]);
    }
    hits.clear();
    expect(postings.collect({ terms: listOf(both, alone), texts: listOf(POST_TITLE, POST_TITLE) }, hits, true)).toBe(
      20,
    );
  });

  test('are not changed by reading ahead', () => {
    const modelled = new Modelled();
    for (let monitor = 0; monitor < 20; monitor++) {
      modelled.postings.readAhead([modelled.term]);
      modelled.check();
      modelled.add(monitor, USUAL, monitor % 3 === 0);
    }
    modelled.postings.readAhead([modelled.term, modelled.heap.allocate(TERM_SIZE)]);
    modelled.check();
  });
});
