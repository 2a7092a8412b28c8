import type { MatchItem, Rule, RuleTerm, SearchedText } from '../../../shared/matching/rule.ts';

/** A fixed pseudo-random sequence of numbers below `count` (Park and Miller, 1988). */
function sequence(seed: number): (count: number) => number {
  let state = seed;
  return (count) => {
    state = (state * 48271) % 0x7fffffff;
    return state % count;
  };
}

type Pick = ReturnType<typeof sequence>;

const SYLLABLES = ['ra', 'ru', 'st', 'hir', 'ing', 'co', 'de', 'ne', 'wyo', 'rk', 'жа', 'é', 'C', 'IT', 'b2', "o'c"];
const SYMBOLIC = ['C++', '.NET', 'node.js', 'e-mail', '手机', 'iPhone手', '🦀', ':-)', 'AT&T', '24/7'];
const TEXTS: readonly SearchedText[] = ['title', 'body', 'post_title'];
const NAMES = ['one', 'Two', 'three', 'Four', 'five', 'six'];
const LANGUAGES = ['en', 'de', 'fr', 'und'];

const oneOf = <T>(values: readonly T[], pick: Pick): T => values[pick(values.length)] as T;
const someOf = <T>(values: readonly T[], most: number, pick: Pick): T[] =>
  Array.from({ length: 1 + pick(most) }, () => oneOf(values, pick));

/** The most frequent words are the first ones. */
function word(pick: Pick): string {
  const number = pick(1 + pick(256));
  return (
    oneOf(SYLLABLES, sequence(number + 1)) + (SYLLABLES[number % SYLLABLES.length] ?? '') + (number % 3 ? '' : 's')
  );
}

/** A word in another case, longer, or as it is. */
function written(pick: Pick): string {
  const plain = pick(8) === 0 ? oneOf(SYMBOLIC, pick) : word(pick);
  const kind = pick(8);
  if (kind === 0) return plain.toUpperCase();
  if (kind === 1) return plain.toLowerCase();
  if (kind === 2) return plain + word(pick);
  return kind === 3 ? `${plain}'s` : plain;
}

function termText(pick: Pick): string {
  if (pick(8) === 0) return oneOf(SYMBOLIC, pick);
  return pick(4) === 0 ? `${word(pick)} ${word(pick)}` : word(pick);
}

function term(pick: Pick): RuleTerm {
  return {
    text: termText(pick),
    ...(pick(2) === 0 && { prefix: true }),
    ...(pick(2) === 0 && { caseSensitive: true }),
    ...(pick(3) === 0 && { in: someOf(TEXTS, 2, pick) }),
  };
}

/** Rules of which each condition is in about a fifth. The same seed returns the same rules. */
export function randomRules(count: number, seed: number): Rule[] {
  const pick = sequence(seed);
  const often = (): boolean => pick(5) === 0;
  return Array.from({ length: count }, () => ({
    keywords: Array.from({ length: pick(6) }, () => termText(pick)),
    exclude: pick(3) === 0 ? [termText(pick)] : [],
    subreddits: pick(6) === 0 ? someOf(NAMES, 4, pick) : [],
    posts: pick(8) > 0,
    comments: pick(8) > 0,
    nsfw: pick(2) === 0,
    ...(pick(2) === 0 && { terms: Array.from({ length: 1 + pick(5) }, () => term(pick)) }),
    ...(often() && {
      require: Array.from({ length: 1 + pick(2) }, () =>
        Array.from({ length: 1 + pick(8) }, () => (pick(2) === 0 ? termText(pick) : term(pick))),
      ),
    }),
    ...(often() && { matchIn: someOf(TEXTS, 3, pick) }),
    ...(often() && { excludeSubreddits: someOf(NAMES, 2, pick) }),
    ...(often() && { authors: someOf(NAMES, 5, pick) }),
    ...(often() && { excludeAuthors: someOf(NAMES, 2, pick) }),
    ...(often() && { languages: someOf(LANGUAGES, 3, pick) }),
  }));
}

/** Items whose words are those of the rules, in other cases and longer. */
export function* randomItems(count: number, seed: number): Generator<MatchItem> {
  const pick = sequence(seed);
  const text = (words: number): string =>
    Array.from({ length: 1 + pick(words) }, () => written(pick) + oneOf([' ', ' ', ' ', ', ', '-', '. '], pick)).join(
      '',
    );
  for (let number = 0; number < count; number++) {
    yield {
      kind: pick(3) === 0 ? 'post' : 'comment',
      title: text(6),
      text: text(16),
      subreddit: oneOf(NAMES, pick).toLowerCase(),
      nsfw: pick(10) === 0,
      author: pick(8) === 0 ? '[deleted]' : oneOf(NAMES, pick).toUpperCase(),
      ...(pick(4) > 0 && { language: oneOf(LANGUAGES, pick) }),
    };
  }
}
