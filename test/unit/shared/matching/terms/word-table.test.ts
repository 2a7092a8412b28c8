import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { IntHeap } from '../../../../../shared/matching/terms/int-list.ts';
import { WordTable } from '../../../../../shared/matching/terms/word-table.ts';

/** The same hash for all words, so that the table must compare them. */
const HASH = 0x5eed;
const PADDING = '\u4e00zz';

/** Places words in the middle of a text, so that a read beyond their ends meets other characters. */
class Words {
  readonly heap = new IntHeap();
  readonly table = new WordTable(this.heap);

  find(word: string, padding = PADDING): number {
    return this.table.find(HASH, ...placeIn(word, padding));
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
});
