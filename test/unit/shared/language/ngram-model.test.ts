import { eld } from 'eld/extrasmall';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadNgramModel } from '../../../../shared/language/ngram-model.ts';
import type { Guess } from '../../../../shared/language/ngram-model.ts';
import { COMMENTS } from './load-language-detector.cases.ts';

const model = await loadNgramModel();

function libraryGuess(text: string): Guess {
  const result = eld.detect(text);
  const [best = 0, next = 0] = Object.values(result.getScores()).sort((a, b) => b - a);
  return { language: result.language === '' ? undefined : result.language, best, next };
}

const ALL_COMMENTS = Object.values(COMMENTS).join(' ');

test.each([
  { name: 'a word of 71 letters', text: 'a'.repeat(71) },
  { name: 'two long words that differ at their end', text: `${'ab'.repeat(50)}x ${'ab'.repeat(50)}y` },
  { name: 'words of one to five letters', text: 'a ab abc abcd abcde' },
  { name: 'contractions', text: "don't can’t rock 'n' roll `quoted` '' ’’ a' 'b" },
  { name: 'letters that change their length in lower case', text: 'İSTANBUL DİYARBAKIR ﬁ ẞ K' },
  { name: 'names of properties of objects', text: '__proto__ constructor toString valueOf' },
  { name: 'a text that ends within a character after 380 bytes', text: `${'ab '.repeat(126)}é読éé` },
  { name: 'text without spaces', text: '読'.repeat(400) },
  { name: 'lone surrogates', text: 'a\ud83db \udc00c' },
])('scores $name as the library does', ({ text }) => {
  expect(model.guess(text)).toEqual(libraryGuess(text));
});

test('scores words with any letter as the library does', () => {
  const letters = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter((character) =>
    /\p{L}/u.test(character),
  );
  const differing = letters.filter((letter) => {
    const text = `the${letter}s and ${letter}`;
    return JSON.stringify(model.guess(text)) !== JSON.stringify(libraryGuess(text));
  });
  expect(differing).toEqual([]);
});

test('scores any text as the library does', () => {
  const parts = fc.array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ maxLength: 30 }),
      fc.tuple(fc.nat(ALL_COMMENTS.length), fc.nat(120)).map(([from, more]) => ALL_COMMENTS.slice(from, from + more)),
    ),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(parts, fc.constantFrom('', ' ', "'"), (texts, between) => {
      const text = texts.join(between);
      expect(model.guess(text)).toEqual(libraryGuess(text));
    }),
    { numRuns: 500 },
  );
});
