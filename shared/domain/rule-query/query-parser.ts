import { missingOperator, readGroup } from './query-group.ts';
import type { Operand } from './query-group.ts';
import { QueryFault } from './query-fault.ts';
import { QueryReader } from './query-reader.ts';
import type { Token } from './query-reader.ts';
import type { RuleSettings } from './rule-settings.ts';
import { WrittenRule } from './written-rule.ts';

type OperatorToken = Token & { kind: 'operator' };

const MIXED =
  'AND and OR are mixed: put parentheses around the terms with OR between them, like (this OR that) AND such';

/**
 * Reads the parts of one query in their order. Between operands (terms and groups) stands either OR everywhere or AND
 * everywhere. The operands of OR are the keywords and terms of the rule. Of AND it is the first one, and each further
 * one is required.
 */
export class QueryParser {
  readonly #query: string;
  readonly #reader: QueryReader;
  readonly #rule = new WrittenRule();
  readonly #operands: Operand[] = [];
  /** What stands between the operands so far. */
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
