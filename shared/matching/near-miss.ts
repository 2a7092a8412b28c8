import { forEachText, TEXTS } from './rule.ts';
import type { MatchItem, MatchPosition } from './rule.ts';
import { IntHeap } from './terms/int-list.ts';
import { WordTable } from './terms/word-table.ts';
import { TextReader } from './text/text-reader.ts';
import { CHARACTER_TOKEN, SPACE_TOKEN, WORD_TOKEN } from './text/tokens.ts';

/** What keeps the piece of a text from matching a term. */
export type NearMissReason =
  /** Its letters have another case, and the term's case counts. */
  | 'case'
  /** It is in a text in which the term does not count. */
  | 'other_text'
  /** It is a part of a longer word. */
  | 'inside_word'
  /** Its words match, but not what is between or around them. */
  | 'punctuation'
  /** It writes in one word what the term separates. */
  | 'joined'
  /** It separates what the term writes in one word. */
  | 'split'
  /** It has other accents. */
  | 'accents'
  /** It differs by one letter. */
  | 'similar_word'
  /** The text has all words of the term, but not together. */
  | 'apart'
  /** The text has some words of the term. */
  | 'some_words';

/** The piece of an item that is nearest to a term that does not match. */
export interface NearMiss {
  reason: NearMissReason;
  position: MatchPosition;
  written: string;
  /** With `some_words`: the words that the text lacks, folded. */
  missing?: string[];
}

interface Token {
  kind: number;
  folded: string;
  /** UTF-16 code units [start, end) of the original. */
  start: number;
  end: number;
}

/** A term or a text as a row of tokens. */
interface Row {
  tokens: Token[];
  folded: string;
  /** Where each token begins in `folded`. */
  offsets: number[];
  /** The indexes of the tokens that are words or characters of scripts without spaces. */
  words: number[];
  folds: string[];
}

interface ReadText extends Row {
  bit: number;
  field: MatchPosition['field'];
  original: string;
  /** Where each word occurs in `words`. */
  occurrences: Map<string, number[]>;
  /** The words without their accents, and where each of these occurs. */
  plainWords: string[];
  plainOccurrences: Map<string, number[]>;
}

/** An elided word (l') says nothing by itself. */
const isWordLike = ({ kind, folded }: Token): boolean =>
  (kind === WORD_TOKEN && !folded.endsWith("'")) || kind === CHARACTER_TOKEN;
const withoutAccents = (word: string): string =>
  /^\w*$/.test(word) ? word : word.normalize('NFD').replace(/\p{M}+/gu, '');

/** Shorter words resemble too many others. */
const LEAST_SIMILAR = 4;

/**
 * Finds what is nearest to a term in an item in which it does not occur. It only explains: it decides nothing. The cost
 * of a term is bounded, since only the first occurrences of its words are looked at.
 */
export class NearMissFinder {
  readonly #reader = new TextReader(new WordTable(new IntHeap()));
  readonly #texts: ReadText[] = [];

  constructor(item: MatchItem) {
    forEachText(item, true, (original, text) => {
      this.#reader.readText(original);
      const row = rowOf(this.#tokens(original.length));
      const plainWords = row.folds.map(withoutAccents);
      this.#texts.push({
        ...row,
        bit: 1 << text,
        field: TEXTS[text] ?? 'text',
        original,
        occurrences: occurrencesOf(row.folds),
        plainWords,
        plainOccurrences: occurrencesOf(plainWords),
      });
    });
  }

  /** @param texts a bit for each text in which the term counts */
  find(written: string, texts: number): NearMiss | undefined {
    this.#reader.readTerm(written, false);
    const term = rowOf(this.#tokens(written.length));
    if (term.words.length === 0) return undefined;
    const counted = this.#texts.filter(({ bit }) => (bit & texts) !== 0);
    for (const search of SEARCHES) {
      for (const text of counted) {
        const found = search(term, text);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  #tokens(length: number): Token[] {
    const reader = this.#reader;
    const { count, kinds, starts } = reader.tokens;
    return Array.from({ length: count }, (_, token) => {
      const first = starts.items[token] ?? 0;
      const last = Math.min(starts.items[token + 1] ?? 0, first + LONGEST_TOKEN);
      return {
        kind: kinds[token] ?? 0,
        folded: String.fromCharCode(...reader.units.subarray(first, last)),
        start: reader.originalStart(token),
        end: Math.min(length, reader.originalEnd(token)),
      };
    });
  }
}

/** Longer words are compared by their beginnings. */
const LONGEST_TOKEN = 200;
/** The occurrences of a word, and of a term's letters, that are looked at. */
const MOST_LOOKED_AT = 50;
/** The words of a text that are compared with a term one by one. */
const MOST_COMPARED = 2_000;

type Search = (term: Row, text: ReadText) => NearMiss | undefined;

/** The nearest first. */
const SEARCHES: readonly Search[] = [
  otherPunctuation,
  insideWord,
  joined,
  split,
  otherAccents,
  similarWord,
  apart,
  someWords,
];

function rowOf(tokens: Token[]): Row {
  const offsets: number[] = [];
  let folded = '';
  for (const token of tokens) {
    offsets.push(folded.length);
    folded += token.kind === SPACE_TOKEN ? ' ' : token.folded;
  }
  const words = tokens.flatMap((token, index) => (isWordLike(token) ? [index] : []));
  return { tokens, folded, offsets, words, folds: words.map((word) => tokens[word]?.folded ?? '') };
}

/** The first of each word, as many as are looked at. */
function occurrencesOf(words: readonly string[]): Map<string, number[]> {
  const occurrences = new Map<string, number[]>();
  words.forEach((word, at) => {
    const known = occurrences.get(word);
    if (known === undefined) occurrences.set(word, [at]);
    else if (known.length < MOST_LOOKED_AT) known.push(at);
  });
  return occurrences;
}

function missAt(reason: NearMissReason, text: ReadText, first: number, last: number): NearMiss {
  const start = text.tokens[first]?.start ?? 0;
  const end = text.tokens[last]?.end ?? start;
  return { reason, position: { field: text.field, start, end }, written: text.original.slice(start, end) };
}

/** The term's letters stand in the text, but begin or end inside a word. */
function insideWord({ folded: term }: Row, text: ReadText): NearMiss | undefined {
  let looked = 0;
  for (let at = text.folded.indexOf(term); at >= 0 && looked < MOST_LOOKED_AT; at = text.folded.indexOf(term, at + 1)) {
    looked++;
    const [first, last] = [tokenAt(text, at), tokenAt(text, at + term.length - 1)];
    const startsInside = text.offsets[first] !== at && text.tokens[first]?.kind === WORD_TOKEN;
    const endOfLast = (text.offsets[last] ?? 0) + (text.tokens[last]?.folded.length ?? 0);
    const endsInside = endOfLast > at + term.length && text.tokens[last]?.kind === WORD_TOKEN;
    if (startsInside || endsInside) return missAt('inside_word', text, first, last);
  }
  return undefined;
}

/** The token that has this unit of the folded text. */
function tokenAt({ offsets }: ReadText, unit: number): number {
  let [low, high] = [0, offsets.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if ((offsets[middle] ?? 0) <= unit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The words of the term follow one another, with something else between or around them. */
function otherPunctuation(term: Row, text: ReadText): NearMiss | undefined {
  const at = findWords(term.folds, text.folds, text.occurrences);
  if (at === undefined) return undefined;
  const [first, last] = [text.words[at] ?? 0, text.words[at + term.words.length - 1] ?? 0];
  const isSymbol = (token: Token | undefined): boolean =>
    token !== undefined && !isWordLike(token) && token.kind !== SPACE_TOKEN;
  // What touches the words is shown too: it may be what differs.
  const before = isSymbol(text.tokens[first - 1]) ? 1 : 0;
  const after = isSymbol(text.tokens[last + 1]) ? 1 : 0;
  return missAt('punctuation', text, first - before, last + after);
}

function findWords(
  wanted: readonly string[],
  words: readonly string[],
  occurrences: ReadonlyMap<string, readonly number[]>,
): number | undefined {
  return occurrences.get(wanted[0] ?? '')?.find((at) => wanted.every((word, offset) => words[at + offset] === word));
}

function joined(term: Row, text: ReadText): NearMiss | undefined {
  const at = term.words.length < 2 ? undefined : text.occurrences.get(term.folds.join(''))?.[0];
  const token = at === undefined ? undefined : text.words[at];
  return token === undefined ? undefined : missAt('joined', text, token, token);
}

/** The only token of the term; undefined if it has more or no word. */
function onlyWord({ tokens }: Row): string | undefined {
  const [only] = tokens;
  return tokens.length === 1 && only?.kind === WORD_TOKEN ? only.folded : undefined;
}

/** Two words with one space or symbol between them that the term writes as one. */
function split(term: Row, text: ReadText): NearMiss | undefined {
  const whole = onlyWord(term);
  if (whole === undefined) return undefined;
  const found = text.words.slice(0, MOST_COMPARED).find((word) => {
    const [first, second] = [text.tokens[word], text.tokens[word + 2]];
    if (first === undefined || second?.kind !== WORD_TOKEN) return false;
    if (first.folded.length + second.folded.length !== whole.length) return false;
    return whole.startsWith(first.folded) && whole.endsWith(second.folded);
  });
  return found === undefined ? undefined : missAt('split', text, found, found + 2);
}

function otherAccents(term: Row, text: ReadText): NearMiss | undefined {
  const wanted = term.folds.map(withoutAccents);
  const at = findWords(wanted, text.plainWords, text.plainOccurrences);
  if (at === undefined) return undefined;
  return missAt('accents', text, text.words[at] ?? 0, text.words[at + term.words.length - 1] ?? 0);
}

function similarWord(term: Row, text: ReadText): NearMiss | undefined {
  const word = onlyWord(term);
  if (word === undefined || word.length < LEAST_SIMILAR) return undefined;
  const similar = text.folds.slice(0, MOST_COMPARED).find((other) => isOneEditAway(word, other));
  const [at] = text.occurrences.get(similar ?? '') ?? [];
  const token = at === undefined ? undefined : text.words[at];
  return token === undefined ? undefined : missAt('similar_word', text, token, token);
}

function apart(term: Row, text: ReadText): NearMiss | undefined {
  const { found, missing } = wordsIn(term, text);
  return missing.length === 0 && found !== undefined ? missAt('apart', text, found, found) : undefined;
}

function someWords(term: Row, text: ReadText): NearMiss | undefined {
  const { found, missing } = wordsIn(term, text);
  return found === undefined ? undefined : { ...missAt('some_words', text, found, found), missing };
}

/** The token of the longest word of the term that the text has, and the words that it lacks. */
function wordsIn(term: Row, text: ReadText): { found: number | undefined; missing: string[] } {
  const wanted = [...new Set(term.folds)];
  const had = wanted.filter((word) => text.occurrences.has(word));
  const [longest = ''] = had.sort((a, b) => b.length - a.length);
  const [at] = text.occurrences.get(longest) ?? [];
  return {
    found: at === undefined ? undefined : text.words[at],
    missing: wanted.filter((word) => !text.occurrences.has(word)),
  };
}

/** Whether one letter is added, missing or another, or two neighbours are exchanged (Damerau). */
export function isOneEditAway(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let [endOfOne, endOfOther] = [one.length, other.length];
  while (endOfOne > start && endOfOther > start && one[endOfOne - 1] === other[endOfOther - 1]) {
    endOfOne--;
    endOfOther--;
  }
  const [rest, otherRest] = [one.slice(start, endOfOne), other.slice(start, endOfOther)];
  if (rest.length <= 1 && otherRest.length <= 1) return true;
  return rest.length === 2 && otherRest.length === 2 && rest[0] === otherRest[1] && rest[1] === otherRest[0];
}
