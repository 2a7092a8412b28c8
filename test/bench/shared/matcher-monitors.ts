import type { Rule } from '../../../shared/matching/rule.ts';
import { oneOf, seededRandom, shuffled, syntheticWords } from './matcher-random.ts';
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
/** Excluded terms are frequent words, so that they do exclude: about one match in thirty. */
const EXCLUDED_RANKS = [20, 300] as const;
/** Of the keywords that are in no text, such a share begins with a word that is. */
const HALF_KNOWN_SHARE = 0.3;

/**
 * Monitors for a text in which nearly nothing is watched: their keywords are in no text, but for as many rare words and
 * phrases as make `mostPerItem` matches an item when no filter and no excluded term takes any away. Some monitors have
 * filters.
 */
export function sparseMonitors(
  vocabulary: Vocabulary,
  options: { count: number; items: number; mostPerItem: number; subreddits: readonly string[] },
): BenchMonitor[] {
  const random = seededRandom(5);
  const known = watchedRareTerms(vocabulary, options.items * options.mostPerItem, random);
  const unseen = unseenKeywords(vocabulary, options.count * KEYWORDS - known.length, random);
  const keywords = shuffled([...known, ...unseen], random);
  const excludable = vocabulary.words.slice(...EXCLUDED_RANKS);
  return Array.from({ length: options.count }, (_, position) => ({
    id: `m${position + 1}`,
    rule: {
      keywords: keywords.slice(position * KEYWORDS, (position + 1) * KEYWORDS),
      exclude: excludedWords(excludable, random),
      subreddits: random() < 0.2 ? [oneOf(options.subreddits, random), oneOf(options.subreddits, random)] : [],
      ...oneOf(KINDS, random),
      nsfw: random() < 0.5,
    },
  }));
}

/** One in ten watches posts only, one in ten comments only. */
const KINDS = [
  { posts: true, comments: false },
  { posts: false, comments: true },
  ...Array.from({ length: 8 }, () => ({ posts: true, comments: true })),
];

/**
 * Of the rarest third of the words, and of the phrases that end with one, as many as occur `occurrences` times
 * together.
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

/** All different. */
function unseenKeywords({ words, counts }: Vocabulary, count: number, random: Random): string[] {
  const unseen = syntheticWords(count, random, new Set(counts.keys()));
  return unseen.map((word) => (random() < HALF_KNOWN_SHARE ? `${oneOf(words, random)} ${word}` : word));
}

function excludedWords(excludable: readonly string[], random: Random): string[] {
  const excluded = new Set<string>();
  while (excluded.size < EXCLUDES) excluded.add(oneOf(excludable, random));
  return [...excluded];
}

/**
 * How a keyword of `denseMonitors` is drawn: with this chance a word of the text, with that one a phrase of the text.
 */
export interface DenseShares {
  words: number;
  phrases: number;
}

/**
 * Monitors of which many match each item: words and phrases of the text, all as likely, and words that are in no text.
 */
export function denseMonitors(vocabulary: Vocabulary, count: number, shares: DenseShares): BenchMonitor[] {
  const random = seededRandom(6);
  const unseen = syntheticWords(count, random, new Set(vocabulary.counts.keys()));
  const excludable = vocabulary.words.slice(...EXCLUDED_RANKS);
  const draw = () => {
    const chance = random();
    if (chance < shares.words) return oneOf(vocabulary.words, random);
    return oneOf(chance < shares.words + shares.phrases ? vocabulary.phrases : unseen, random);
  };
  return Array.from({ length: count }, (_, position) => {
    const keywords = new Set<string>();
    while (keywords.size < KEYWORDS) keywords.add(draw());
    const exclude = excludedWords(excludable, random);
    return { id: `m${position + 1}`, rule: unfilteredRule([...keywords], exclude) };
  });
}
