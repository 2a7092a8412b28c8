import { expect, test } from 'vitest';
import { MatchWords } from '../../../../../shared/domain/suggestions/match-words.ts';

test('a word counts once in a text; the title counts for posts only; at most 1,000 texts', () => {
  const words = new MatchWords();
  words.add({ kind: 'post', title: 'Rust rust', body: 'RUST, now' });
  words.add({ kind: 'comment', title: 'Rust', body: 'now' });
  expect([words.texts, [...words.counts]]).toEqual([
    2,
    [
      ['rust', 1],
      ['now', 2],
    ],
  ]);
  for (let number = 0; number < 1_000; number++) words.add({ kind: 'comment', title: '', body: 'now' });
  expect([words.texts, words.counts.get('now')]).toEqual([1_000, 1_000]);
});
