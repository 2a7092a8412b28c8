import { IntHeap } from './terms/int-list.ts';
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
