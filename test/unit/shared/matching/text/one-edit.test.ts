import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isOneEditAway } from '../../../../../shared/matching/text/one-edit.ts';

/** All strings that one edit makes of a word over a small alphabet. */
function editsOf(word: string, letters: string): Set<string> {
  const edits = new Set<string>();
  for (let at = 0; at <= word.length; at++) {
    const [head, tail] = [word.slice(0, at), word.slice(at)];
    if (tail !== '') edits.add(head + tail.slice(1));
    if (tail.length > 1) edits.add(`${head}${tail[1]}${tail[0]}${tail.slice(2)}`);
    for (const letter of letters) {
      edits.add(head + letter + tail);
      if (tail !== '') edits.add(head + letter + tail.slice(1));
    }
  }
  edits.delete(word);
  return edits;
}

describe('isOneEditAway', () => {
  test('is true for exactly the words that one edit makes', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
    let away = 0;
    fc.assert(
      fc.property(word, word, (one, other) => {
        const expected = editsOf(one, 'abc').has(other);
        if (expected) away++;
        expect(isOneEditAway(one, other)).toBe(expected);
      }),
      { numRuns: 3_000 },
    );
    expect(away).toBeGreaterThan(50);
  });
});
