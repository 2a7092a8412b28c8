import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { changeReferences, FoundTerms, isReferenced } from '../../../../../shared/matching/terms/found-terms.ts';
import { TermTables } from '../../../../../shared/matching/terms/term-tables.ts';
import type { TermShape } from '../../../../../shared/matching/terms/term-shape.ts';

const TERMS: readonly (readonly [TermShape, string])[] = [
  ['word', 'rust'],
  ['prefix', 'rust'],
  ['phrase', 'new york'],
  ['exact', 'node.js'],
  ['loose', 'c++ developer'],
];

class Fixture {
  readonly heap = new IntHeap();
  readonly found = new FoundTerms(this.heap);
  readonly tables = new TermTables(this.heap, 'folded');

  read(shape: TermShape, term: string, addWords: boolean): void {
    this.tables.reader.readTerm(term, addWords && shape !== 'prefix');
  }

  add(shape: TermShape, term: string): number {
    this.read(shape, term, true);
    const added = this.tables.findOrAdd(shape);
    if (!isReferenced(this.heap, added)) changeReferences(this.heap, added, 1);
    return added;
  }

  remove(shape: TermShape, term: string): void {
    const removed = this.find(shape, term);
    changeReferences(this.heap, removed, -1);
    this.tables.remove(shape, removed);
  }

  find(shape: TermShape, term: string): number {
    this.read(shape, term, false);
    return this.tables.find(shape);
  }

  search(text: string): Set<number> {
    this.found.clear();
    this.tables.reader.readText(text);
    this.tables.search(0, this.found);
    return new Set(this.found.terms.items.subarray(0, this.found.terms.length));
  }
}

describe('TermTables', () => {
  test('hold terms of every shape, each by itself', () => {
    const fixture = new Fixture();
    for (const [shape, term] of TERMS) expect(fixture.find(shape, term)).toBe(0);
    const added = TERMS.map(([shape, term]) => fixture.add(shape, term));
    expect(new Set(added).size).toBe(TERMS.length);
    expect(added).not.toContain(0);
    expect(TERMS.map(([shape, term]) => fixture.find(shape, term))).toEqual(added);
    expect(TERMS.map(([shape, term]) => fixture.add(shape, term))).toEqual(added);
    const [rust = 0, rustPrefix = 0, newYork = 0, nodeJs = 0, developer = 0] = added;
    expect(fixture.search('Rust in New-York')).toEqual(new Set([rust, rustPrefix, newYork]));
    expect(fixture.search('rusty node.js')).toEqual(new Set([rustPrefix, nodeJs]));
    expect(fixture.search('C++-developer')).toEqual(new Set([developer]));
    expect(fixture.search('new, york')).toEqual(new Set());
  });

  test.each(TERMS)('remove a %s and nothing else', (shape, term) => {
    const fixture = new Fixture();
    for (const [otherShape, other] of TERMS) fixture.add(otherShape, other);
    const removed = fixture.find(shape, term);
    fixture.remove(shape, term);
    for (const [otherShape, other] of TERMS) {
      const isThere = otherShape !== shape;
      const found = fixture.find(otherShape, other);
      expect(found !== 0).toBe(isThere);
      if (isThere) expect(fixture.search(`x ${other} y`)).toContain(found);
    }
    expect(fixture.search(`x ${term} y`).has(removed)).toBe(false);
  });

  test('give up the table of prefixes with the last prefix', () => {
    const fixture = new Fixture();
    const before = fixture.tables.bytes;
    fixture.add('prefix', 'rust');
    expect(fixture.tables.bytes).toBeGreaterThan(before);
    fixture.remove('prefix', 'rust');
    expect(fixture.tables.bytes).toBe(before);
  });
});
