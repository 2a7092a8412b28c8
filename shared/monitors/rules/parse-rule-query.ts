import type { SearchedText } from '../../matching/rule.ts';
import { pointAt, QueryFault, QueryReader } from './query-reader.ts';
import type { Token, TermToken } from './query-reader.ts';
import type { RuleSettings } from './print-rule-query.ts';
import { WrittenRule } from './written-rule.ts';

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
    refuseUnreadable(query);
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

function refuseUnreadable(query: string): void {
  if (query.length > MAX_QUERY_LENGTH) {
    throw new QueryFault(MAX_QUERY_LENGTH, `a query has at most ${MAX_QUERY_LENGTH.toLocaleString('en')} characters`);
  }
  const unstorable = query.search(UNSTORABLE);
  if (unstorable !== -1) throw new QueryFault(unstorable, 'this is a NUL or half of a surrogate pair');
}

/** Of the field, or of the longest part of its name that has one. */
function findPosition(positions: ReadonlyMap<string, number>, field: string): number | undefined {
  for (let name = field; name !== ''; name = name.replace(/(?:^|\.)\w+$|\[\d+\]$/, '')) {
    const position = positions.get(name);
    if (position !== undefined) return position;
  }
  return undefined;
}

type OperatorToken = Token & { kind: 'operator' };

const MIXED =
  'AND and OR are mixed: put parentheses around the terms with OR between them, like (this OR that) AND such';

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
      throw new QueryFault(position, `there is no term after "${written}"; the word itself needs quotes`);
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
        throw new QueryFault(token.position, 'there is no open parenthesis to close');
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
      throw new QueryFault(position, `"${written}" follows "${this.#operator.written}"; write one of them`);
    }
    if (this.#last === undefined) {
      throw new QueryFault(position, `there is no term before "${written}"; the word itself needs quotes`);
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
  'OR can only join terms: excluded terms and filters (sub:, author:, …) apply to the whole rule; leave out the OR';

interface Operand {
  terms: TermToken[];
  /** Whether a field stands before it, so that OR may be left out. */
  hasField: boolean;
  word?: string;
  position: number;
}

const ONLY_TERMS = 'parentheses hold only terms with OR between them';

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
  if (token.hasField) throw new QueryFault(token.position, 'the parentheses have a field already');
  return { ...token, term: { ...token.term, in: texts }, hasField: true };
}

function wrongTerm(token: Token, open: number, isFirst: boolean): QueryFault {
  if (token.kind === 'end') return new QueryFault(open, 'this parenthesis is not closed');
  if (token.kind === 'close' && isFirst) return new QueryFault(open, 'there is nothing in the parentheses');
  if (token.kind === 'close') return new QueryFault(token.position, 'there is no term after "OR"');
  if (token.kind === 'operator') {
    return new QueryFault(token.position, `there is no term before "${token.written}"; the word itself needs quotes`);
  }
  return wrongPart(token);
}

function wrongOperator(token: Token, open: number): QueryFault {
  if (token.kind === 'end') return new QueryFault(open, 'this parenthesis is not closed');
  if (token.kind === 'term') return missingOperator(token.position, token.term.text);
  return wrongPart(token);
}

function wrongPart(token: Token): QueryFault {
  if (token.kind === 'operator') return new QueryFault(token.position, `${ONLY_TERMS}; "AND" stands between them`);
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
    const message = `write "${word.toUpperCase()}" in capitals, or quotes around the phrase that has this word`;
    return new QueryFault(position, message);
  }
  return new QueryFault(position, 'write OR or AND before this, or quotes around a phrase of several words');
}
