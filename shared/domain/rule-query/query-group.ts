import type { SearchedText } from '../../matching/rule.ts';
import { QueryFault } from './query-fault.ts';
import type { QueryReader, TermToken, Token } from './query-reader.ts';

/** Terms in parentheses, or a single one without. */
export interface Operand {
  terms: TermToken[];
  /** Whether a field stands before it, so that OR may be left out. */
  hasField: boolean;
  /** Of a single term. */
  word?: string;
  position: number;
}

const ONLY_TERMS = 'parentheses hold only terms with OR between them';

/**
 * Reads what follows an opening parenthesis, up to the closing one.
 *
 * @throws QueryFault
 */
export function readGroup(reader: QueryReader, { in: texts, position }: Token & { kind: 'open' }): Operand {
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
export function missingOperator(position: number, text = ''): QueryFault {
  const word = text.toLowerCase();
  if (word === 'and' || word === 'or' || word === 'not') {
    const message = `write "${word.toUpperCase()}" in capitals, or quotes around the phrase that has this word`;
    return new QueryFault(position, message);
  }
  return new QueryFault(position, 'write OR or AND before this, or quotes around a phrase of several words');
}
