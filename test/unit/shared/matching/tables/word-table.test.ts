import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/tables/int-heap.ts';
import {
  BEGINS_PHRASES,
  IN_EXACT_SEQUENCE,
  IS_LETTER,
  IS_TERM,
  WordTable,
} from '../../../../../shared/matching/tables/word-table.ts';

/** The same hash for all words, so that the table must compare them. */
const HASH = 0x5eed;
const PADDING = '\u4e00zz';

/** Places words in the middle of a text, so that a read beyond their ends meets other characters. */
class Words {
  readonly heap = new IntHeap();
  readonly table = new WordTable(this.heap);

  find(word: string, padding = PADDING): number {
    const found = this.table.find(HASH, ...placeIn(word, padding));
    expect(this.table.find(HASH, ...placeIn(word, padding), true)).toBe(found);
    return found;
  }

  add(word: string): number {
    return this.table.add(HASH, ...placeIn(word, ''));
  }

  remove(word: number): void {
    this.table.removeUnused(HASH, word);
  }
}

function placeIn(word: string, padding: string): [Uint16Array, number, number] {
  const text = padding + word + padding;
  const units = Uint16Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
  return [units, padding.length, padding.length + word.length];
}

describe('WordTable', () => {
  const lengths = [1, 2, 3, 4, 5, 6, 999, 1001, 1002, 1003, 1004, 5_000];
  test.each(lengths)('distinguishes words of length %i that differ in one character', (length) => {
    const base = 'abcdefghij'.repeat(Math.ceil(length / 10)).slice(0, length);
    const offsets = [...new Set([0, 1, 2, 3, 4, 5, Math.floor(length / 2), length - 2, length - 1])];
    const variants = offsets
      .filter((index) => index >= 0 && index < length)
      .flatMap((index) =>
        // The last two have the lower byte of a letter of the word and a different upper byte.
        ['z', '\xff', '\u0161', '\u6161', String.fromCharCode(base.charCodeAt(index) + 0x100)].map(
          (other) => base.slice(0, index) + other + base.slice(index + 1),
        ),
      );
    const all = [...new Set([base, ...variants, `${base}a`, `${base}\u0100`])];
    for (const held of [all.filter((_, index) => index % 2 === 0), all.filter((_, index) => index % 2 === 1), all]) {
      const words = new Words();
      const known = new Map(held.map((word) => [word, words.add(word)]));
      expect(new Set(known.values()).size).toBe(held.length);
      for (const word of all) {
        for (const padding of ['', 'a', PADDING]) expect(words.find(word, padding)).toBe(known.get(word) ?? 0);
      }
    }
  });

  test('agrees with a model when words with one hash are added and removed', () => {
    const word = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'b', '\xff', '\u0161', '\u6100'), minLength: 1, maxLength: 9 }),
      fc.constantFrom('a'.repeat(1_001), `${'a'.repeat(1_001)}\u0161`),
    );
    fc.assert(
      fc.property(fc.array(fc.record({ word, adds: fc.boolean() }), { maxLength: 60 }), (steps) => {
        const words = new Words();
        const model = new Map<string, number>();
        for (const { word: given, adds } of steps) {
          const known = model.get(given) ?? 0;
          expect(words.find(given)).toBe(known);
          if (adds && known === 0) model.set(given, words.add(given));
          if (!adds && known !== 0) {
            words.remove(known);
            model.delete(given);
          }
        }
        for (const [held, address] of model) expect(words.find(held)).toBe(address);
      }),
      { numRuns: 200 },
    );
  });

  test('keeps a word while it is used, and reuses its memory afterwards', () => {
    const words = new Words();
    const word = words.add('rust');
    words.table.addUses(word, 1);
    words.table.addUses(word, 1);
    words.table.addUses(word, -1);
    words.remove(word);
    expect(words.find('rust')).toBe(word);
    words.table.addRole(word, IS_TERM);
    words.table.addUses(word, -1);
    words.remove(word);
    expect(words.find('rust')).toBe(word);
    words.table.removeTerm(word);
    words.remove(word);
    expect(words.find('rust')).toBe(0);
    expect(words.add('iron')).toBe(word);
    expect(words.table.roles(word) & (IS_TERM | IS_LETTER)).toBe(0);
    // A word of another size gets another block.
    words.remove(word);
    expect(words.add('manganese')).not.toBe(word);
    expect(words.add('zinc')).toBe(word);
  });

  test('stores roles and recognises single letters', () => {
    const words = new Words();
    const has = (word: string, role: number) => (words.table.roles(words.find(word) || words.add(word)) & role) !== 0;
    const marks = (count: number) => `c${'\u0301'.repeat(count)}`;
    for (const letter of ['c', 'ж', '\u00e9', marks(1), marks(2), marks(99), '\ud835\udd38']) {
      expect([letter, has(letter, IS_LETTER)]).toEqual([letter, true]);
    }
    for (const other of ['cc', '1', 'c1', `${marks(1)}c`, '\u0301', marks(100), marks(1_100)]) {
      expect([other.slice(0, 9), has(other, IS_LETTER)]).toEqual([other.slice(0, 9), false]);
    }
    const word = words.add('rust');
    for (const role of [IN_EXACT_SEQUENCE, BEGINS_PHRASES, IS_TERM]) words.table.addRole(word, role);
    words.table.removeTerm(word);
    expect(words.find('rust')).toBe(word);
    expect([IN_EXACT_SEQUENCE, BEGINS_PHRASES, IS_TERM].map((role) => has('rust', role))).toEqual([true, true, false]);
    expect(words.table.term(word)).not.toBe(words.table.term(words.add('iron')));
  });
});
