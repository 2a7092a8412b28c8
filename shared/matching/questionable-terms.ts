import { MonitorIndex } from './monitor-index.ts';
import type { Rule } from './rule.ts';
import { searchableWords } from './searchable-words.ts';
import { IntHeap } from './terms/int-list.ts';
import { TermIndex } from './terms/term-index.ts';
import { WordTable } from './terms/word-table.ts';
import { TextReader } from './text/text-reader.ts';
import { SPACE_TOKEN, SYMBOL_TOKEN, WORD_TOKEN } from './text/tokens.ts';

/** A part of a term that is syntax elsewhere (in search engines and shells) and is searched for as written here. */
export type TermSyntax =
  /** A boolean operator between words: `rust OR go`, `rust AND go`, `rust NOT game`, `rust | go`. */
  | { kind: 'operator'; written: string }
  /** The name of a field before a word: `title:rust`. */
  | { kind: 'field'; written: string }
  /** An asterisk at a word: `rust*`. */
  | { kind: 'wildcard'; written: string }
  /** Quotes around a phrase, which are dropped; without them. */
  | { kind: 'quotes'; written: string };

const OPERATORS = new Set(['AND', 'OR', 'NOT']);
/** Fields of the searches of forums and of the web. */
const FIELDS = new Set(
  'author body flair flair_name intext intitle inurl nsfw over_18 self selftext site subreddit text title url user'.split(
    ' ',
  ),
);
const QUOTE = /["'‘’“”„«»「」]/;

interface Token {
  kind: number;
  /** The code point of a symbol after folding, so that an escaped or a wide asterisk is one too. */
  value: number;
  written: string;
}

/** Finds syntax in terms, by the tokens that matching compares. One instance reads any number of terms. */
export class TermSyntaxReader {
  readonly #reader = new TextReader(new WordTable(new IntHeap()));

  /** Each kind of syntax once, where it occurs first. */
  find(term: string): TermSyntax[] {
    this.#reader.readTerm(term, false);
    const { count, kinds, values } = this.#reader.tokens;
    const tokens = Array.from({ length: count }, (_, token): Token => {
      const written = term.slice(this.#reader.originalStart(token), this.#reader.originalEnd(token));
      return { kind: kinds[token] ?? 0, value: values.items[token] ?? 0, written };
    });
    if (count === 0) return [];
    const [start, end] = [this.#reader.originalStart(0), this.#reader.originalEnd(count - 1)];
    const hasQuotes = QUOTE.test(term.slice(0, start)) && QUOTE.test(term.slice(end));
    const isPhrase = tokens.some(({ kind }) => kind === SPACE_TOKEN);
    const found: (TermSyntax | undefined)[] = [
      firstOf('operator', tokens, isOperator),
      firstOf('field', tokens, isField),
      firstOf('wildcard', tokens, isWildcard),
      hasQuotes && isPhrase ? { kind: 'quotes', written: term.slice(start, end) } : undefined,
    ];
    return found.filter((syntax) => syntax !== undefined);
  }
}

type Test = (tokens: readonly Token[], at: number) => boolean;

function firstOf(kind: TermSyntax['kind'], tokens: readonly Token[], test: Test): TermSyntax | undefined {
  const at = tokens.findIndex((_, token) => test(tokens, token));
  return at < 0 ? undefined : { kind, written: tokens[at]?.written ?? '' };
}

/** Between two parts; NOT may also begin the term. */
function isOperator(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (isSymbol(token, '|')) return at > 0 && at < tokens.length - 1;
  if (token?.kind !== WORD_TOKEN || !OPERATORS.has(token.written)) return false;
  const isFollowed = tokens[at + 1]?.kind === SPACE_TOKEN && at + 2 < tokens.length;
  return isFollowed && (at === 0 ? token.written === 'NOT' : tokens[at - 1]?.kind === SPACE_TOKEN);
}

function isField(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at];
  if (token?.kind !== WORD_TOKEN || !FIELDS.has(token.written.toLowerCase())) return false;
  const value = tokens[at + 2];
  const isFirst = at === 0 || tokens[at - 1]?.kind === SPACE_TOKEN;
  return isFirst && isSymbol(tokens[at + 1], ':') && value !== undefined && value.kind !== SPACE_TOKEN;
}

/** Several asterisks in a row hide letters or are markup, and one between spaces is itself. */
function isWildcard(tokens: readonly Token[], at: number): boolean {
  if (!isSymbol(tokens[at], '*')) return false;
  const neighbours = [tokens[at - 1], tokens[at + 1]];
  return neighbours.some((token) => isWordLike(token)) && !neighbours.some((token) => isSymbol(token, '*'));
}

function isSymbol(token: Token | undefined, symbol: string): boolean {
  return token?.kind === SYMBOL_TOKEN && token.value === symbol.codePointAt(0);
}

function isWordLike(token: Token | undefined): boolean {
  return token !== undefined && token.kind !== SPACE_TOKEN && token.kind !== SYMBOL_TOKEN;
}

const ANYWHERE = { subreddits: [], posts: true, comments: true, nsfw: true } as const;

/** A keyword by which no item can match, because each text that has it has an excluded term too. */
export interface ExcludedKeyword {
  position: number;
  /** The first such excluded term, as written. */
  excludedBy: string;
}

/**
 * Finds excluded terms in the keywords themselves, by the rules of matching. A keyword with spaces is tried with
 * hyphens too where it matches with them: an excluded term that occurs only between spaces leaves those texts.
 */
export function excludedKeywords({ keywords, exclude }: Pick<Rule, 'keywords' | 'exclude'>): ExcludedKeyword[] {
  if (exclude.length === 0) return [];
  const index = new MonitorIndex();
  index.set('excluded', { ...ANYWHERE, keywords: exclude, exclude: [] });
  return keywords.flatMap((keyword, position) => {
    index.set('keyword', { ...ANYWHERE, keywords: [keyword], exclude: [] });
    const [plain, hyphenated] = [keyword, keyword.replace(/(?<=\S)\s+(?=\S)/g, '-')].map((text) =>
      termsIn(index, text),
    );
    const found = plain?.get('excluded') ?? [];
    const always = hyphenated?.has('keyword') === true ? hyphenated.get('excluded') : found;
    const excludedBy = found.find((term) => always?.includes(term));
    return excludedBy === undefined ? [] : [{ position, excludedBy }];
  });
}

function termsIn(index: MonitorIndex, text: string): Map<string, string[]> {
  const item = { kind: 'comment', title: '', text, subreddit: '', nsfw: false } as const;
  return new Map(index.match(item).map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]));
}

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
