import { plainWords } from '../shared/matcher-vocabulary.ts';
import type { PlainWord } from '../shared/matcher-vocabulary.ts';

/**
 * The number of different terms in the first n plain texts, each counted once per text, for n from 0 to all. It looks
 * up every run of one to three words in a set and shares no code with the product.
 */
export function expectedMatches(plainTexts: readonly string[], terms: readonly string[]): number[] {
  const wanted = new Set(terms);
  const sums = [0];
  let sum = 0;
  for (const plain of plainTexts) {
    const found = new Set<string>();
    const note = (run: string) => {
      if (wanted.has(run)) found.add(run);
    };
    let before: PlainWord | undefined;
    let twoBefore: PlainWord | undefined;
    for (const word of plainWords(plain)) {
      note(word.text);
      if (word.follows && before) note(plain.slice(before.start, word.end));
      if (word.follows && before?.follows && twoBefore) note(plain.slice(twoBefore.start, word.end));
      twoBefore = before;
      before = word;
    }
    sums.push((sum += found.size));
  }
  return sums;
}
