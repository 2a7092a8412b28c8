import { seededRandom, shuffled, syntheticWords } from '../shared/matcher-random.ts';
import type { Vocabulary } from '../shared/matcher-vocabulary.ts';

/**
 * How many of the terms come from the text, as shares of all terms. Never more than half of the text's words or
 * phrases.
 */
export interface TextShares {
  words: number;
  phrases: number;
  /** The number of terms among the most frequent words, at most one in a hundred. */
  maxFrequent: number;
}

/** This number of the most frequent words covers about three quarters of a text. Few users watch for them. */
const FREQUENT = 1_000;

/** Distinct terms in a fixed random order: terms from the text, and for the remainder words that occur in no text. */
export function drawTerms({ words, counts, phrases }: Vocabulary, shares: TextShares, count: number): string[] {
  const random = seededRandom(3);
  const frequent = shuffled(words.slice(0, FREQUENT), random);
  const rare = shuffled(words.slice(FREQUENT), random);
  const terms = frequent.slice(0, Math.min(count / 100, shares.maxFrequent));
  terms.push(...rare.slice(0, Math.min(count * shares.words, words.length / 2) - terms.length));
  const picked = Math.min(count * shares.phrases, phrases.length / 2);
  for (const phrase of shuffled(phrases, random).slice(0, picked)) terms.push(phrase);
  for (const word of syntheticWords(count - terms.length, random, new Set(counts.keys()))) terms.push(word);
  return shuffled(terms, random);
}
