import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import { IN_CASED_TERM, KEY_OF_CASED_TERM, WordTable } from '../../../../../shared/matching/tables/word-table.ts';
import { FoundTerms } from '../../../../../shared/matching/terms/found-terms.ts';
import { PrefixTerms } from '../../../../../shared/matching/terms/prefix-terms.ts';
import { TextReader } from '../../../../../shared/matching/text/text-reader.ts';

class Fixture {
  readonly heap = new IntHeap();
  readonly found = new FoundTerms(this.heap);
  readonly reader = new TextReader(new WordTable(this.heap));
  readonly prefixes = new PrefixTerms(this.heap);

  read(prefix: string): TextReader {
    this.reader.readTerm(prefix, false);
    return this.reader;
  }

  add(prefix: string): number {
    return this.prefixes.findOrAdd(this.read(prefix));
  }

  /** The terms in the order in which they are found. */
  search(text: string): number[] {
    this.found.clear();
    this.reader.readText(text);
    this.prefixes.search(this.reader, 0, this.found);
    return [...this.found.terms.items.subarray(0, this.found.terms.length)];
  }
}

describe('PrefixTerms', () => {
  test('finds the word itself and longer ones, as a whole', () => {
    const fixture = new Fixture();
    const term = fixture.add('hir');
    expect(fixture.add('HIR')).toBe(term);
    for (const [text, start, end] of [
      ['hir', 0, 3],
      ['we are Hiring!', 7, 13],
      ["hire's", 0, 4],
      ['hir_e', 0, 5],
    ] as const) {
      expect(fixture.search(text)).toEqual([term]);
      expect(fixture.found.position(0, 0)).toEqual({ start, end });
    }
    for (const text of ['shirt', 'hi', 'h i r', 'hi-r', '']) expect(fixture.search(text)).toEqual([]);
  });

  test('finds what startsWith finds, whichever prefixes are added and removed', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 3, maxLength: 40 });
    const changes = fc.array(fc.record({ prefix: word, removes: fc.boolean() }), { maxLength: 20 });
    fc.assert(
      fc.property(changes, fc.array(word, { maxLength: 5 }), fc.nat(40), (changed, words, length) => {
        const fixture = new Fixture();
        const model = new Map<string, number>();
        for (const { prefix, removes } of changed) {
          const [first] = model.keys();
          if (removes && first !== undefined) {
            fixture.prefixes.remove(fixture.read(first));
            model.delete(first);
            expect(fixture.prefixes.find(fixture.read(first))).toBe(0);
          } else model.set(prefix, fixture.add(prefix));
        }
        expect(fixture.prefixes.isEmpty).toBe(model.size === 0);
        for (const text of [...words, ...changed.map(({ prefix }) => prefix + prefix.slice(0, length))]) {
          const expected = [...model].filter(([prefix]) => text.startsWith(prefix)).map(([, term]) => term);
          expect(new Set(fixture.search(text))).toEqual(new Set(expected));
        }
      }),
    );
  });

  test('marks words with a watched prefix until it is unwatched, without finding a term', () => {
    const fixture = new Fixture();
    fixture.prefixes.watch(fixture.read('rus'));
    expect(fixture.prefixes.find(fixture.read('rus'))).toBe(0);
    expect(fixture.search('go Rusty')).toEqual([]);
    expect(fixture.reader.allRoles & KEY_OF_CASED_TERM).not.toBe(0);
    expect(Array.from([0, 1, 2], (token) => (fixture.reader.roles.items[token] ?? 0) & IN_CASED_TERM)).toEqual([
      0,
      0,
      IN_CASED_TERM,
    ]);
    fixture.prefixes.unwatch(fixture.read('rus'));
    expect(fixture.prefixes.isEmpty).toBe(true);
    fixture.search('go Rusty');
    expect(fixture.reader.allRoles & KEY_OF_CASED_TERM).toBe(0);
  });

  test('keeps a prefix that is a term and watched until both have ended', () => {
    const fixture = new Fixture();
    const term = fixture.add('rus');
    fixture.prefixes.watch(fixture.read('rus'));
    fixture.prefixes.unwatch(fixture.read('rus'));
    expect(fixture.search('rust')).toEqual([term]);
    fixture.prefixes.watch(fixture.read('rus'));
    fixture.prefixes.remove(fixture.read('rus'));
    expect(fixture.search('rust')).toEqual([]);
    expect(fixture.prefixes.isEmpty).toBe(false);
  });
});
