import { searchableWords } from './searchable-words.ts';
import { TermIndex } from './terms/term-index.ts';

/**
 * The words that occur in at least 2 % of all posts and comments, by the approximate percentage of items with the word.
 * Measured with `searchableWords` over 71,640 posts and comments of four large and four small collections. A word must
 * also occur in 1 % of each large collection, so that the topic of one collection (`code`, `app`) does not count as
 * common. All words are English: no word of another language occurs in 2 % of all items.
 */
const WORDS_BY_PERCENT: Readonly<Record<number, string>> = {
  40: 'the to a',
  30: 'i and it is of in that',
  20: 'for this you with',
  15: 'on have but be not my are if',
  10: "so what like or just was as can an from how i'm do there all at me",
  7: "your about would get they any some one we out when don't has more will up no by know",
  5: 'people now time here new been way only want go am also think other them good because',
  4: "make really i've see should who need then why thanks their even into than work first much could something where still does",
  3: "had well very too right being most best same after going these better can't over got did our us post were sure before back doesn't those",
  2: "made you're thing say its feel someone thank take great down last never actually didn't look",
};

const PERCENT_BY_WORD = new Map(
  Object.entries(WORDS_BY_PERCENT).flatMap(([percent, words]) =>
    words.split(' ').map((word) => [word, Number(percent)] as const),
  ),
);

/** Used only to classify terms. It stays empty. */
const TERMS = new TermIndex();

export interface CommonKeyword {
  /** The approximate percentage of all posts and comments with the word; undefined for a phrase (not measured). */
  percent: number | undefined;
}

/** Returns undefined unless the keyword is a very common word or a phrase of nothing but very common words. */
export function findCommonKeyword(keyword: string): CommonKeyword | undefined {
  const kind = TERMS.kindOf(keyword);
  if (kind !== 'word' && kind !== 'phrase') return undefined;
  const percents = searchableWords(keyword).map((word) => PERCENT_BY_WORD.get(word));
  if (percents.includes(undefined)) return undefined;
  return { percent: kind === 'word' ? percents[0] : undefined };
}
