/**
 * The text with nothing left that word rules could differ about: lower-case ASCII letters and digits, single spaces,
 * and punctuation that only separates. What joins words (apostrophes, underscores) or is read as an escape
 * (backslashes, ampersands) goes; hyphens, for which a phrase's space may stand, and everything else become commas.
 */
export function plainText(text: string): string {
  return text
    .toLowerCase()
    .replace(/['’_\\&]/g, '')
    .replace(/\s+/g, ' ')
    .replace(/[^a-z0-9 .,!?;:()"/]+/g, ',')
    .trim();
}

export interface PlainWord {
  text: string;
  start: number;
  end: number;
  /** Whether exactly one space separates it from the previous word. */
  follows: boolean;
}

export function* plainWords(plain: string): Generator<PlainWord> {
  let end = -1;
  for (const { 0: text, index: start } of plain.matchAll(/[a-z0-9]+/g)) {
    yield { text, start, end: start + text.length, follows: start === end + 1 && plain[end] === ' ' };
    end = start + text.length;
  }
}

export interface Vocabulary {
  /** The most frequent first. Those that can be a keyword: 2 to 40 characters. */
  words: string[];
  /** How often each word occurs in the texts. */
  counts: ReadonlyMap<string, number>;
  /** Two or three words that follow each other in a text; each phrase once. */
  phrases: string[];
}

const SHORTEST = 2;
const LONGEST = 40;

/** All words and phrases of plain texts. */
export function readVocabulary(plainTexts: Iterable<string>): Vocabulary {
  const counts = new Map<string, number>();
  const phrases = new Set<string>();
  for (const plain of plainTexts) {
    let before: PlainWord | undefined;
    let twoBefore: PlainWord | undefined;
    for (const word of plainWords(plain)) {
      const { text, end, follows } = word;
      if (text.length >= SHORTEST && text.length <= LONGEST) counts.set(text, (counts.get(text) ?? 0) + 1);
      if (follows && before) phrases.add(plain.slice(before.start, end));
      if (follows && before?.follows && twoBefore) phrases.add(plain.slice(twoBefore.start, end));
      twoBefore = before;
      before = word;
    }
  }
  const words = [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word);
  return { words, counts, phrases: [...phrases].filter((phrase) => phrase.length <= LONGEST) };
}
