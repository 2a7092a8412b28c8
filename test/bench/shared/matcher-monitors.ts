import type { Rule } from '../../../shared/matching/rule.ts';
import { inventedWords, oneOf, seededRandom, shuffled, syntheticWords } from './matcher-random.ts';
import type { Random } from './matcher-random.ts';
import type { Vocabulary } from './matcher-vocabulary.ts';

export interface BenchMonitor {
  /** m1, m2, … */
  id: string;
  rule: Rule;
}

/** Posts and comments of every community. */
export function unfilteredRule(keywords: readonly string[], exclude: readonly string[] = []): Rule {
  return { keywords, exclude, subreddits: [], posts: true, comments: true, nsfw: true };
}

const KEYWORDS = 20;
const EXCLUDES = 2;
/** Excluded terms are frequent words, so that they really exclude something: about one match in thirty. */
const EXCLUDED_RANKS = [20, 300] as const;
/** The share of the keywords without matches that begin with a word of the text. */
const HALF_KNOWN_SHARE = 0.3;

/**
 * Monitors that match almost nothing. Nearly all keywords occur in no text. The others are rare words and phrases,
 * enough for at most `maxPerItem` matches per item before filters and excluded terms. Some monitors have filters. None
 * is kept, and with the same arguments they are the same again.
 */
export function* sparseMonitors(
  vocabulary: Vocabulary,
  options: { count: number; items: number; maxPerItem: number; subreddits: readonly string[] },
): Generator<BenchMonitor, void> {
  const random = seededRandom(5);
  const known = watchedRareTerms(vocabulary, options.items * options.maxPerItem, random);
  const unseen = inventedWords(new Set(vocabulary.counts.keys()));
  let left = options.count * KEYWORDS;
  // The known keywords come at random places, each place with the same probability (selection sampling).
  const drawKeyword = (): string => {
    const isKnown = random() * left-- < known.length;
    if (isKnown) return known.pop()!;
    const { value } = unseen.next();
    return random() < HALF_KNOWN_SHARE ? `${oneOf(vocabulary.words, random)} ${value}` : value;
  };
  const excludable = vocabulary.words.slice(...EXCLUDED_RANKS);
  for (let number = 1; number <= options.count; number++) {
    yield {
      id: `m${number}`,
      rule: {
        keywords: Array.from({ length: KEYWORDS }, drawKeyword),
        exclude: excludedWords(excludable, random),
        subreddits: random() < 0.2 ? [oneOf(options.subreddits, random), oneOf(options.subreddits, random)] : [],
        ...oneOf(KINDS, random),
        nsfw: random() < 0.5,
      },
    };
  }
}

/** One in ten watches posts only, one in ten comments only. */
const KINDS = [
  { posts: true, comments: false },
  { posts: false, comments: true },
  ...Array.from({ length: 8 }, () => ({ posts: true, comments: true })),
];

/**
 * Draws from the rarest third of the words and from the phrases that end with such a word, until the drawn terms occur
 * about `occurrences` times in total.
 */
function watchedRareTerms({ words, counts, phrases }: Vocabulary, occurrences: number, random: Random): string[] {
  const rare = new Set(words.slice(Math.floor((words.length * 2) / 3)));
  const lastWord = (term: string) => term.slice(term.lastIndexOf(' ') + 1);
  const terms = [...rare, ...phrases.filter((phrase) => rare.has(lastWord(phrase)))];
  const watched: string[] = [];
  let left = occurrences;
  for (const term of shuffled(terms, random)) {
    // A phrase occurs at most as often as its last word.
    left -= counts.get(lastWord(term))!;
    if (left < 0) break;
    watched.push(term);
  }
  return watched;
}

function excludedWords(excludable: readonly string[], random: Random): string[] {
  const excluded = new Set<string>();
  while (excluded.size < EXCLUDES) excluded.add(oneOf(excludable, random));
  return [...excluded];
}

/** The shares of keywords of `denseMonitors` that are words and phrases of the text. The others occur in no text. */
export interface DenseShares {
  words: number;
  phrases: number;
}

/** Monitors many of which match each item. Words and phrases of the text are drawn with equal probability. */
export function denseMonitors(vocabulary: Vocabulary, count: number, shares: DenseShares): BenchMonitor[] {
  const random = seededRandom(6);
  const unseen = syntheticWords(count, random, new Set(vocabulary.counts.keys()));
  const excludable = vocabulary.words.slice(...EXCLUDED_RANKS);
  const draw = () => {
    const chance = random();
    if (chance < shares.words) return oneOf(vocabulary.words, random);
    return oneOf(chance < shares.words + shares.phrases ? vocabulary.phrases : unseen, random);
  };
  return Array.from({ length: count }, (_, index) => {
    const keywords = new Set<string>();
    while (keywords.size < KEYWORDS) keywords.add(draw());
    const exclude = excludedWords(excludable, random);
    return { id: `m${index + 1}`, rule: unfilteredRule([...keywords], exclude) };
  });
}
