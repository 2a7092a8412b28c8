import type { Suggestion } from '../../../schemas/api/rules.ts';
import type { Rule } from '../../matching/rule.ts';
import { wordsOfText, searchableWords } from '../../matching/searchable-words.ts';
import { isOneEditAway } from '../../matching/near-miss.ts';
import { findCommonKeyword } from '../../matching/questionable-terms.ts';
import { ELIDED_WORDS } from '../../matching/text/tokens.ts';

/** What is compared. All counts are of texts, never of occurrences. */
export interface ComparedTexts {
  rule: Rule;
  /** The newest matches. */
  matches: WordCounts;
  /** A sample of the whole stream. */
  stream: WordCounts & { subreddits: ReadonlyMap<string, number> };
  /** All matches by community, and how many there are. */
  subreddits: ReadonlyMap<string, number>;
  total: number;
}

/** Fewer matches, or fewer items of the stream, say nothing. */
const LEAST_MATCHES = 20;
const LEAST_STREAM = 200;
/** A word must be in this many matches. */
const LEAST_WITH_WORD = 5;
/** A word stands out when it is this many times as frequent in matches as in the stream. */
const STANDS_OUT = 5;
/** A word in a smaller share of the matches changes little; above the second, it belongs to the subject. */
const EXCLUDE_SHARE = { from: 0.03, below: 0.2 };
const KEYWORD_SHARE = 0.2;
const SUBREDDIT_SHARE = 0.1;
const MOST_OF_A_KIND = 5;
/** Only words of two or more letters or digits; a single character of a script without spaces says little. */
const IS_WORD = /^[\p{L}\p{N}\p{M}'_]{2,40}$/u;
/** The word behind the elided one is counted by itself (`wordsOfText`). */
const IS_ELIDED = new RegExp(`^(?:${ELIDED_WORDS.join('|')})'.`, 'u');
const IS_NUMBER = /^\p{N}+$/u;

/**
 * Proposes words and communities for a rule, each with the counts that speak for it; no model decides. The lift of a
 * word is its share of the matches, divided by its share of the stream; one text with the word is added to the stream,
 * so that a word that the sample lacks has a finite lift. `../README.md` has the conditions.
 */
export function suggest(compared: ComparedTexts): Suggestion[] {
  const { matches, stream } = compared;
  if (matches.texts < LEAST_MATCHES || stream.texts < LEAST_STREAM) return [];
  const known = wordsOfRule(compared.rule);
  const standing = [...matches.counts]
    .filter(([word, count]) => count >= LEAST_WITH_WORD && isProposable(word) && !known.has(word))
    .map(([word, count]) => measured(compared, word, count))
    .filter(({ value, lift }) => lift >= STANDS_OUT && !isCommon(value))
    .sort((one, other) => other.matches - one.matches || (one.value < other.value ? -1 : 1));
  const shareOf = ({ matches: count }: Measured): number => count / matches.texts;
  const isMinor = (word: Measured): boolean =>
    shareOf(word) >= EXCLUDE_SHARE.from && shareOf(word) < EXCLUDE_SHARE.below;
  return [
    ...standing.filter(isMinor).slice(0, MOST_OF_A_KIND).map(asExclude),
    ...standing
      .filter((word) => shareOf(word) >= KEYWORD_SHARE && word.stream > 0)
      .slice(0, MOST_OF_A_KIND)
      .map(asKeyword),
    ...variants(compared, known),
    ...subreddits(compared),
  ];
}

const isProposable = (word: string): boolean => IS_WORD.test(word) && !IS_NUMBER.test(word) && !IS_ELIDED.test(word);

/** English words of no subject, beside those of `findCommonKeyword`. Long texts have more of them than short ones. */
const OTHER_COMMON_WORDS = new Set(
  (
    'although always another around away between both came come during each either else ever every few gave give he ' +
    'her him his keep let little lot many may maybe might must nor often once ones own place put rather she since such ' +
    'through took under until used using whether which while whose within without year yet'
  ).split(' '),
);

const isCommon = (word: string): boolean => findCommonKeyword(word) !== undefined || OTHER_COMMON_WORDS.has(word);

type Measured = Omit<Suggestion, 'kind' | 'message' | 'lift'> & { lift: number };

function measured({ matches, stream }: ComparedTexts, value: string, count: number): Measured {
  const inStream = stream.counts.get(value) ?? 0;
  const lift = count / matches.texts / ((inStream + 1) / (stream.texts + 1));
  return {
    value,
    matches: count,
    matches_compared: matches.texts,
    stream: inStream,
    stream_compared: stream.texts,
    lift: rounded(lift),
  };
}

const rounded = (lift: number): number => Math.round(lift * 10) / 10;

function asExclude(word: Measured): Suggestion {
  const { value, matches, matches_compared: compared, lift } = word;
  const message = `${matches} of ${compared} matches contain “${value}”, ${lift} times its usual share. Exclude it if you do not want them.`;
  return { kind: 'exclude', ...word, message };
}

function asKeyword(word: Measured): Suggestion {
  const { value, matches, matches_compared: compared, lift } = word;
  const message = `${matches} of ${compared} matches contain “${value}”, ${lift} times its usual share. Adding it may find more on the subject.`;
  return { kind: 'keyword', ...word, message };
}

function wordsOfRule({ keywords, terms = [], exclude, require = [] }: Rule): Set<string> {
  const texts = [...keywords, ...terms, ...exclude, ...require.flat()];
  return new Set(texts.flatMap((term) => wordsOfText(typeof term === 'string' ? term : term.text)));
}

/** Forms of the keywords that occur in the stream, and that the rule does not find by themselves. */
function variants(compared: ComparedTexts, known: ReadonlySet<string>): Suggestion[] {
  const { matches, stream, rule } = compared;
  const occurring = [...stream.counts].filter(([word]) => isProposable(word) && !known.has(word));
  const found = rule.keywords.flatMap((keyword) =>
    variantsOf(keyword, occurring).map((form) => ({ keyword, ...form })),
  );
  return found
    .sort((one, other) => other.count - one.count)
    .slice(0, MOST_OF_A_KIND)
    .map(({ keyword, word, count, how }) => ({
      kind: 'variant',
      value: word,
      of: keyword,
      matches: matches.counts.get(word) ?? 0,
      matches_compared: matches.texts,
      stream: count,
      stream_compared: stream.texts,
      lift: null,
      message: `“${word}” is “${keyword}” ${how}. It is in ${count} of ${stream.texts} sampled items.`,
    }));
}

/** Communities that bring most, for a rule that watches all. */
function subreddits({ rule, subreddits: counts, total, stream }: ComparedTexts): Suggestion[] {
  if (rule.subreddits.length > 0) return [];
  return [...counts]
    .filter(([, count]) => count >= LEAST_WITH_WORD && count / total >= SUBREDDIT_SHARE)
    .sort(([one, a], [other, b]) => b - a || (one < other ? -1 : 1))
    .slice(0, MOST_OF_A_KIND)
    .map(([value, count]) => {
      const inStream = stream.subreddits.get(value) ?? 0;
      return {
        kind: 'subreddit',
        value,
        matches: count,
        matches_compared: total,
        stream: inStream,
        stream_compared: stream.texts,
        lift: rounded(count / total / ((inStream + 1) / (stream.texts + 1))),
        message: `${count} of ${total} matches are in r/${value}. Watch only this community, or leave it out.`,
      };
    });
}

/** This many matches are compared, the first that are added. */
const MOST_MATCHES = 1_000;
/** Longer texts are cut: one text must not decide what stands out. */
const MOST_CHARACTERS = 4_000;

/** In how many texts each word occurs. */
interface WordCounts {
  texts: number;
  counts: ReadonlyMap<string, number>;
}

export class MatchWords implements WordCounts {
  texts = 0;
  readonly #counts = new Map<string, number>();

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Ignored beyond MOST_MATCHES. */
  add({ kind, title, body }: { kind: 'post' | 'comment'; title: string; body: string }): void {
    if (this.texts >= MOST_MATCHES) return;
    this.texts += 1;
    const text = kind === 'post' ? `${title}\n${body}` : body;
    for (const word of wordsOfText(text.slice(0, MOST_CHARACTERS))) {
      this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
    }
  }
}

/** A form of a keyword: a word that occurs, in how many texts, and what differs. */
interface Variant {
  word: string;
  count: number;
  /** Follows “is “keyword””. */
  how: string;
}

/** A word that occurs in fewer texts may be an accident; a misspelling must occur more often. */
const LEAST_TEXTS = 2;
const LEAST_MISSPELT = 3;
/** Short words have too many neighbours. */
const SHORTEST_MISSPELT = 6;

/**
 * The words that are the keyword in another form: its plural or singular; its words written as one; one letter other.
 *
 * @param occurring words, folded as for matching, with the number of texts that have them
 */
export function variantsOf(keyword: string, occurring: readonly (readonly [string, number])[]): Variant[] {
  const words = searchableWords(keyword);
  const joined = words.join('');
  if (joined === '') return [];
  return occurring.flatMap(([word, count]) => {
    const how = count < LEAST_TEXTS ? undefined : difference(words, joined, word, count);
    return how === undefined ? [] : [{ word, count, how }];
  });
}

function difference(words: readonly string[], joined: string, word: string, count: number): string | undefined {
  if (words.length > 1) return word === joined ? 'as one word' : undefined;
  if (word === joined) return undefined;
  if (pluralsOf(joined).includes(word)) return 'in the plural';
  if (pluralsOf(word).includes(joined)) return 'in the singular';
  const isMisspelt = joined.length >= SHORTEST_MISSPELT && count >= LEAST_MISSPELT && isOneEditAway(joined, word);
  return isMisspelt ? 'with one letter changed' : undefined;
}

function pluralsOf(word: string): string[] {
  const plain = [`${word}s`, `${word}es`];
  return word.endsWith('y') ? [...plain, `${word.slice(0, -1)}ies`] : plain;
}
