import { describe, expect, test } from 'vitest';
import { TermFinder } from '../../../../../shared/matching/terms/term-finder.ts';

describe('TermFinder', () => {
  test('requires all terms, by the rules of keywords', () => {
    const finder = new TermFinder(['quick brown', 'fox', '']);
    expect(finder.allOccurIn('A Quick-Brown FOX')).toBe(true);
    expect(finder.allOccurIn('a quick brown dog')).toBe(false);
    expect(finder.allOccurIn('brown quick fox')).toBe(false);
    expect(finder.allOccurIn('quick brown foxes')).toBe(false);
  });
});
