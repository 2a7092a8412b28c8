import type { RuleTerm, SearchedText } from '../../matching/rule.ts';
import type { RuleSettings } from './print-rule-query.ts';
import { isText, pointAt, QueryFault, QueryReader, TEXTS } from './query-reader.ts';
import type { FilterToken, FilterValue, TermToken, Token } from './query-reader.ts';

/**
 * In UTF-16 code units. Every rule fits: 140 terms of 100 characters with two units each (28,000), a third as much for
 * their quotes, fields and operators, and 250 names of at most 25 units.
 */
export const MAX_QUERY_LENGTH = 50_000;

export interface QueryRefusal {
  /** In UTF-16 code units from 0; the length of the query for a fault at its end. */
  position: number;
  message: string;
}

/** A query that could be read. Its terms and names are not validated yet. */
interface ParsedQuery {
  settings: RuleSettings;
  /**
   * Where the query says what a request has under this name: `keywords[2]`, `terms[0].text`, `require[1]`. For a whole
   * list it is the last entry, and what the query does not say is at its end.
   */
  positionOf(field: string): number;
}

/** Reads the textual form of a rule in linear time. Never throws. README.md has the grammar. */
export function parseRuleQuery(query: string): ParsedQuery | { refusal: QueryRefusal } {
  try {
    refuseMalformed(query);
    const { settings, positions } = new QueryParser(query).parse();
    return { settings, positionOf: (field) => findPosition(positions, field) ?? query.length };
  } catch (error) {
    if (error instanceof QueryFault) return { refusal: { position: error.position, message: error.message } };
    throw error;
  }
}

/** The message of a refusal, then the line of the query, then a caret under the position. */
export function describeRefusal(query: string, { position, message }: QueryRefusal): string {
  return `${message}\n${pointAt(query, position)}`;
}

const UNSTORABLE = /\0|\p{Surrogate}/u;

function refuseMalformed(query: string): void {
  if (query.length > MAX_QUERY_LENGTH) {
    throw new QueryFault(
      MAX_QUERY_LENGTH,
      `a query can have at most ${MAX_QUERY_LENGTH.toLocaleString('en')} characters`,
    );
  }
  const unstorable = query.search(UNSTORABLE);
  if (unstorable !== -1)
    throw new QueryFault(unstorable, 'remove this character: it is NUL or half of a surrogate pair');
}

/** The position of the field, or of the longest part of its name that has one. */
function findPosition(positions: ReadonlyMap<string, number>, field: string): number | undefined {
  for (let name = field; name !== ''; name = name.replace(/(?:^|\.)\w+$|\[\d+\]$/, '')) {
    const position = positions.get(name);
    if (position !== undefined) return position;
  }
  return undefined;
}

type OperatorToken = Token & { kind: 'operator' };

const MIXED = 'AND and OR are mixed: put parentheses around the terms that OR joins, like (this OR that) AND such';

/**
 * Reads the parts of one query in their order. Between operands (terms and groups) stands either OR everywhere or AND
 * everywhere. The operands of OR are the keywords and terms of the rule. Of AND it is the first one, and each further
 * one is required.
 */
class QueryParser {
  readonly #query: string;
  readonly #reader: QueryReader;
  readonly #rule = new WrittenRule();
  readonly #operands: Operand[] = [];
  #joint: 'AND' | 'OR' | undefined;
  /** The last part, if it is an operator. */
  #operator: OperatorToken | undefined;
  /** The last part that is not an operator. */
  #last: 'operand' | 'other' | undefined;

  constructor(query: string) {
    this.#query = query;
    this.#reader = new QueryReader(query);
  }

  /** @throws QueryFault */
  parse(): { settings: RuleSettings; positions: ReadonlyMap<string, number> } {
    for (let token = this.#reader.next(); token.kind !== 'end'; token = this.#reader.next()) this.#addPart(token);
    if (this.#operator !== undefined) {
      const { position, written } = this.#operator;
      throw new QueryFault(
        position,
        `a term is missing after "${written}"; to search for the word itself, put it in quotes`,
      );
    }
    if (this.#operands.length === 0) throw new QueryFault(this.#query.length, 'a rule needs at least one keyword');
    this.#addOperandsToRule();
    return { settings: this.#rule.settings(), positions: this.#rule.positions };
  }

  #addPart(token: Exclude<Token, { kind: 'end' }>): void {
    switch (token.kind) {
      case 'operator':
        this.#addOperator(token);
        break;
      case 'open':
        this.#addOperand(readGroup(this.#reader, token));
        break;
      case 'term':
        this.#addOperand({ ...token, terms: [token], word: token.term.text });
        break;
      case 'close':
        throw new QueryFault(token.position, 'there is no opening parenthesis for this one');
      case 'exclusion':
        this.#endAlternatives(token.position);
        this.#rule.addExclusion(token.text, token.position);
        break;
      case 'filter':
        this.#endAlternatives(token.position);
        this.#rule.addFilter(token);
    }
  }

  #addOperator(token: OperatorToken): void {
    const { position, written } = token;
    if (this.#operator !== undefined) {
      throw new QueryFault(position, `"${written}" follows "${this.#operator.written}"; remove one of them`);
    }
    if (this.#last === undefined) {
      throw new QueryFault(
        position,
        `a term is missing before "${written}"; to search for the word itself, put it in quotes`,
      );
    }
    if (written === 'OR' && this.#last === 'other') throw new QueryFault(position, NO_ALTERNATIVE);
    this.#operator = token;
  }

  /** Before a part that applies to the whole rule. AND may stand there and adds nothing. */
  #endAlternatives(position: number): void {
    if (this.#operator?.written === 'OR') throw new QueryFault(position, NO_ALTERNATIVE);
    this.#operator = undefined;
    this.#last = 'other';
  }

  #addOperand(operand: Operand): void {
    const previous = this.#operands.at(-1);
    if (previous !== undefined) this.#joinTo(previous, operand);
    this.#operands.push(operand);
    this.#operator = undefined;
    this.#last = 'operand';
  }

  #joinTo(previous: Operand, operand: Operand): void {
    const isOptional = previous.hasField || operand.hasField;
    if (this.#operator === undefined && !isOptional) throw missingOperator(operand.position, operand.word);
    const { written: joint = 'OR', position = operand.position } = this.#operator ?? {};
    if (this.#joint !== undefined && this.#joint !== joint) throw new QueryFault(position, MIXED);
    this.#joint = joint;
  }

  #addOperandsToRule(): void {
    const groups = this.#operands.map(({ terms }) => terms);
    const [alternatives = [], ...required] = this.#joint === 'AND' ? groups : [groups.flat()];
    for (const term of alternatives) this.#rule.addTerm(term);
    for (const group of required) this.#rule.addRequired(group);
  }
}

const NO_ALTERNATIVE =
  'OR can only join terms; excluded terms and filters (sub:, author:, …) apply to the whole rule: remove the OR';

interface Operand {
  terms: TermToken[];
  /** Whether a field stands before it, so that OR may be left out. */
  hasField: boolean;
  word?: string;
  position: number;
}

const ONLY_TERMS = 'parentheses can only contain terms joined by OR';

/**
 * Reads what follows an opening parenthesis, up to the closing one.
 *
 * @throws QueryFault
 */
function readGroup(reader: QueryReader, { in: texts, position }: Token & { kind: 'open' }): Operand {
  const terms: TermToken[] = [];
  for (;;) {
    const term = reader.next();
    if (term.kind !== 'term') throw wrongTerm(term, position, terms.length === 0);
    terms.push(limitedTo(texts, term));
    const operator = reader.next();
    if (operator.kind === 'close') return { terms, hasField: texts !== undefined, position };
    if (operator.kind !== 'operator' || operator.written === 'AND') throw wrongOperator(operator, position);
  }
}

/** `title:(a OR b)` is `title:a OR title:b`. */
function limitedTo(texts: readonly SearchedText[] | undefined, token: TermToken): TermToken {
  if (texts === undefined) return token;
  if (token.hasField) throw new QueryFault(token.position, 'the parentheses already have a field');
  return { ...token, term: { ...token.term, in: texts }, hasField: true };
}

function wrongTerm(token: Token, open: number, isFirst: boolean): QueryFault {
  if (token.kind === 'end') return new QueryFault(open, 'this parenthesis is not closed');
  if (token.kind === 'close' && isFirst) return new QueryFault(open, 'the parentheses are empty');
  if (token.kind === 'close') return new QueryFault(token.position, 'a term is missing after "OR"');
  if (token.kind === 'operator') {
    return new QueryFault(
      token.position,
      `a term is missing before "${token.written}"; to search for the word itself, put it in quotes`,
    );
  }
  return wrongPart(token);
}

function wrongOperator(token: Token, open: number): QueryFault {
  if (token.kind === 'end') return new QueryFault(open, 'this parenthesis is not closed');
  if (token.kind === 'term') return missingOperator(token.position, token.term.text);
  return wrongPart(token);
}

function wrongPart(token: Token): QueryFault {
  if (token.kind === 'operator') return new QueryFault(token.position, `${ONLY_TERMS}; put "AND" between parentheses`);
  if (token.kind === 'open') return new QueryFault(token.position, `${ONLY_TERMS}, no further parentheses`);
  return new QueryFault(token.position, `${ONLY_TERMS}; this applies to the whole rule, so write it outside`);
}

/**
 * Two terms follow each other: is it a phrase, must both occur, or is one enough?
 *
 * @param text the second one
 */
function missingOperator(position: number, text = ''): QueryFault {
  const word = text.toLowerCase();
  if (word === 'and' || word === 'or' || word === 'not') {
    const message = `write "${word.toUpperCase()}" in capitals, or put quotes around the phrase that contains this word`;
    return new QueryFault(position, message);
  }
  return new QueryFault(position, 'write OR or AND before this, or put quotes around the phrase');
}

type Kind = 'post' | 'comment';

/** Collects the settings that a query says, and where it says them. */
class WrittenRule {
  /**
   * Positions by the names that requests have for what stands there: `keywords[0]`, `require[1][0]`. That of a list is
   * the one of its last entry.
   */
  readonly positions = new Map<string, number>();
  readonly #keywords: string[] = [];
  readonly #terms: RuleTerm[] = [];
  readonly #require: (string | RuleTerm)[][] = [];
  readonly #exclude: string[] = [];
  readonly #lists = {
    match_in: [] as SearchedText[],
    subreddits: [] as string[],
    exclude_subreddits: [] as string[],
    authors: [] as string[],
    exclude_authors: [] as string[],
    languages: [] as string[],
  };
  readonly #kinds = { wanted: new Set<string>(), excluded: new Set<string>() };
  #nsfw: string | undefined;
  #threadOnce = false;

  addTerm({ term, hasField, position }: TermToken): void {
    if (isKeyword(term, hasField)) this.#add('keywords', this.#keywords, term.text, position);
    else this.#add('terms', this.#terms, term, position);
  }

  addRequired(group: readonly TermToken[]): void {
    const terms: (string | RuleTerm)[] = [];
    const field = `require[${this.#require.length}]`;
    this.#add('require', this.#require, terms, group[0]?.position ?? 0);
    for (const { term, hasField, position } of group) {
      this.#add(field, terms, isKeyword(term, hasField) ? term.text : term, position);
    }
  }

  addExclusion(text: string, position: number): void {
    this.#add('exclude', this.#exclude, text, position);
  }

  /** @throws QueryFault for a value that the filter does not have */
  addFilter({ name, values }: FilterToken): void {
    for (const value of values) {
      if (name === 'sub') this.#addName(value.isExcluded ? 'exclude_subreddits' : 'subreddits', value);
      else if (name === 'author') this.#addName(value.isExcluded ? 'exclude_authors' : 'authors', value);
      else if (name === 'is') this.#addKind(value);
      else if (value.isExcluded) throw new QueryFault(value.position, `"${name}:" cannot be excluded`);
      else if (name === 'lang') this.#addName('languages', { ...value, text: value.text.toLowerCase() });
      else if (name === 'in') this.#addText(value);
      else if (name === 'nsfw') this.#setNsfw(value);
      else this.#setOnce(value);
    }
  }

  settings(): RuleSettings {
    const lists = this.#lists;
    const { wanted, excluded } = this.#kinds;
    const watches = (kind: Kind) => (wanted.size === 0 || wanted.has(kind)) && !excluded.has(kind);
    return {
      keywords: this.#keywords,
      exclude: this.#exclude,
      subreddits: lists.subreddits,
      posts: watches('post'),
      comments: watches('comment'),
      nsfw: this.#nsfw === 'yes',
      ...(this.#terms.length > 0 && { terms: this.#terms }),
      ...(this.#require.length > 0 && { require: this.#require }),
      ...(lists.match_in.length > 0 && { matchIn: lists.match_in }),
      ...(lists.exclude_subreddits.length > 0 && { excludeSubreddits: lists.exclude_subreddits }),
      ...(lists.authors.length > 0 && { authors: lists.authors }),
      ...(lists.exclude_authors.length > 0 && { excludeAuthors: lists.exclude_authors }),
      ...(lists.languages.length > 0 && { languages: lists.languages }),
      threadOnce: this.#threadOnce,
    };
  }

  #add<T>(field: string, list: T[], entry: T, position: number): void {
    this.positions.set(`${field}[${list.length}]`, position).set(field, position);
    list.push(entry);
  }

  #addName(
    field: 'subreddits' | 'exclude_subreddits' | 'authors' | 'exclude_authors' | 'languages',
    { text, position }: FilterValue,
  ): void {
    this.#add(field, this.#lists[field], text, position);
  }

  #addText({ text, position }: FilterValue): void {
    const name = text.toLowerCase();
    if (!isText(name)) throw new QueryFault(position, `"in:" accepts ${TEXTS.join(', ')}`);
    this.#add('match_in', this.#lists.match_in, name, position);
  }

  #addKind({ text, isExcluded, position }: FilterValue): void {
    const kind = text.toLowerCase();
    if (kind !== 'post' && kind !== 'comment') throw new QueryFault(position, '"is:" accepts post, comment');
    (isExcluded ? this.#kinds.excluded : this.#kinds.wanted).add(kind);
  }

  #setNsfw({ text, position }: FilterValue): void {
    const value = text.toLowerCase();
    if (value !== 'yes' && value !== 'no') throw new QueryFault(position, '"nsfw:" accepts yes, no');
    if (this.#nsfw !== undefined && this.#nsfw !== value) {
      throw new QueryFault(position, `this contradicts "nsfw:${this.#nsfw}" before it`);
    }
    this.#nsfw = value;
  }

  #setOnce({ text, position }: FilterValue): void {
    if (text.toLowerCase() !== 'thread') throw new QueryFault(position, '"once:" accepts thread');
    this.#threadOnce = true;
  }
}

/** Whether it can be written as a string instead of an object. */
function isKeyword({ prefix, caseSensitive }: RuleTerm, hasField: boolean): boolean {
  return !hasField && prefix !== true && caseSensitive !== true;
}
