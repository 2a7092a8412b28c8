import type { RuleTerm, SearchedText } from '../../matching/rule.ts';
import { isOneEditAway } from '../../matching/near-miss.ts';

/** A part of a query. Positions are in UTF-16 code units. */
export type Token =
  | { kind: 'operator'; written: 'AND' | 'OR'; position: number }
  /** A parenthesis; with the texts to which its terms are limited when it is `title:(`. */
  | { kind: 'open'; in?: readonly SearchedText[]; position: number }
  | { kind: 'close'; position: number }
  | TermToken
  | { kind: 'exclusion'; text: string; position: number }
  | FilterToken
  | { kind: 'end'; position: number };

export interface TermToken {
  kind: 'term';
  term: RuleTerm;
  /** Whether a field stands before it. It then belongs to `terms` whatever its conditions. */
  hasField: boolean;
  position: number;
}

export interface FilterToken {
  kind: 'filter';
  name: FilterName;
  values: FilterValue[];
  position: number;
}

export interface FilterValue {
  text: string;
  isExcluded: boolean;
  position: number;
}

const SPACE = /\s*/y;
const NAMES = /[A-Za-z_]+(?:,[A-Za-z_]+)*:/y;
/** Phones write a dash for a hyphen. */
const MINUS = /[-‐‑–—−]/y;
const WORD = /[^\s"“”„(),;]+/y;
const QUOTED = /"([^"\\]*(?:\\[^][^"\\]*)*)"/y;
/** As phones and word processors write quotes. There is no way to write one of them inside. */
const CURLY_QUOTED = /[“”„]([^“”]*)[“”]/y;
const QUOTE = /["“”„]/;

const EXCLUDED_WITH_FIELD =
  'an excluded term applies to all texts and cannot have a field; write only the minus and the term';
const TWO_SIGNS = 'use one minus; put a term or name that begins with a minus in quotes';

const OPERATORS = ['AND', 'OR', 'NOT'] as const;

/** Cuts a query into its parts, from left to right, in linear time. */
export class QueryReader {
  readonly #query: string;
  #at = 0;

  constructor(query: string) {
    this.#query = query;
  }

  /** The next part; `end` when there is none. @throws QueryFault */
  next(): Token {
    this.#match(SPACE);
    const position = this.#at;
    const sign = this.#match(MINUS) ?? this.#readOperator();
    if (sign === 'AND' || sign === 'OR') return { kind: 'operator', written: sign, position };
    if (sign !== undefined) return this.#readExclusion(sign, position);
    switch (this.#query[position]) {
      case undefined:
        return { kind: 'end', position };
      case '(':
        this.#at++;
        return { kind: 'open', position };
      case ')':
        this.#at++;
        this.#endPart();
        return { kind: 'close', position };
      default:
        return this.#readClause(position);
    }
  }

  #readOperator(): (typeof OPERATORS)[number] | undefined {
    const start = this.#at;
    const word = this.#match(WORD);
    const operator = OPERATORS.find((written) => written === word);
    if (operator !== undefined && /^[\s()]?$/.test(this.#query.charAt(this.#at))) return operator;
    this.#at = start;
    return undefined;
  }

  #readExclusion(sign: string, position: number): Token {
    if (sign === 'NOT') this.#match(SPACE);
    const start = this.#at;
    const next = this.#query.charAt(start);
    if (/^[\s)]?$/.test(next)) throw new QueryFault(position, `"${sign}" must be followed by a term`);
    if (next === '(') {
      throw new QueryFault(start, 'a group cannot be excluded; exclude its terms one by one, like -this -"and that"');
    }
    const names = this.#readNames();
    const [name = ''] = names;
    if (isFilter(name)) return this.#readFilter(name, true, position);
    if (names.length > 0) throw new QueryFault(start, EXCLUDED_WITH_FIELD);
    const { text, prefix, caseSensitive } = this.#readTerm(sign);
    if (prefix === true || caseSensitive === true) {
      const condition = prefix === true ? 'an asterisk' : 'a "="';
      throw new QueryFault(
        start,
        `an excluded term cannot have ${condition}; to search for it literally, put it in quotes`,
      );
    }
    this.#endPart();
    return { kind: 'exclusion', text, position };
  }

  #readClause(position: number): Token {
    const names = this.#readNames();
    const [name = ''] = names;
    if (isFilter(name)) return this.#readFilter(name, false, position);
    const texts = [...new Set(names.filter(isText))];
    const limits = texts.length > 0 ? { in: texts } : {};
    if (texts.length > 0 && this.#take('(')) return { kind: 'open', ...limits, position };
    const term = this.#readTerm(names.length > 0 ? `${names.join(',')}:` : '');
    this.#endPart();
    return { kind: 'term', term: { ...term, ...limits }, hasField: names.length > 0, position };
  }

  /** The names before a colon in lower case: of texts, or a single other one. None if no colon follows. */
  #readNames(): string[] {
    let position = this.#at;
    const written = this.#match(NAMES)?.slice(0, -1).split(',') ?? [];
    return written.map((name) => {
      const field = name.toLowerCase();
      if (!isText(field) && !isFilter(field) && field !== PLAIN_TERM)
        throw new QueryFault(position, unknownField(name));
      if (!isText(field) && written.length > 1) {
        throw new QueryFault(position, `"${field}" cannot be combined with other fields`);
      }
      position += name.length + 1;
      return field;
    });
  }

  /** @param before what stands before the term: a field with its colon, a sign, or nothing */
  #readTerm(before: string): RuleTerm {
    const start = this.#at;
    if (before !== '' && this.#match(MINUS) !== undefined) {
      throw new QueryFault(start, before.endsWith(':') ? EXCLUDED_WITH_FIELD : TWO_SIGNS);
    }
    const caseSensitive = this.#take('=') ? { caseSensitive: true } : {};
    const quoted = this.#readQuoted();
    if (quoted !== undefined) return { text: quoted, ...(this.#take('*') ? { prefix: true } : {}), ...caseSensitive };
    const wordStart = this.#at;
    const word = this.#match(WORD);
    if (word === undefined) throw this.#missing(before + this.#query.slice(start, wordStart));
    const star = word.indexOf('*');
    if (star === -1) return { text: word, ...caseSensitive };
    if (star === 0 || star < word.length - 1) {
      const message = 'an asterisk can only be at the end of a word; to search for it literally, put it in quotes';
      throw new QueryFault(wordStart + star, message);
    }
    return { text: word.slice(0, -1), prefix: true, ...caseSensitive };
  }

  #readFilter(name: FilterName, isExcluded: boolean, position: number): FilterToken {
    const values: FilterValue[] = [];
    do {
      const start = this.#at;
      const hasMinus = this.#match(MINUS) !== undefined;
      if (hasMinus && isExcluded) throw new QueryFault(start, TWO_SIGNS);
      if (values[0] !== undefined && values[0].isExcluded !== (isExcluded || hasMinus)) {
        throw new QueryFault(start, `put a minus before all values of "${name}:" or before none`);
      }
      const text = this.#readQuoted() ?? this.#match(WORD);
      if (text === undefined) throw this.#missing(values.length === 0 ? `${name}:` : ',');
      values.push({ text, isExcluded: isExcluded || hasMinus, position: start });
    } while (this.#take(','));
    this.#endPart();
    return { kind: 'filter', name, values, position };
  }

  #readQuoted(): string | undefined {
    if (!QUOTE.test(this.#query.charAt(this.#at))) return undefined;
    const position = this.#at;
    const isStraight = this.#query[position] === '"';
    const written = this.#match(isStraight ? QUOTED : CURLY_QUOTED);
    if (written === undefined) throw new QueryFault(position, 'the quotes are not closed');
    const inside = written.slice(1, -1);
    return isStraight ? inside.replace(/\\(["\\])/g, '$1') : inside;
  }

  #missing(before: string): QueryFault {
    const next = this.#query.charAt(this.#at);
    if (next === ',' || next === ';') return this.#separator(next);
    const isSpaced = /\s/.test(next);
    return new QueryFault(this.#at, `a value must follow "${before}"${isSpaced ? ' directly, without a space' : ''}`);
  }

  #separator(written: string): QueryFault {
    const message = `"${written}" cannot be used here: write OR between terms; to search for it literally, put it in quotes`;
    return new QueryFault(this.#at, message);
  }

  /** A part ends here, so that nobody wonders what belongs to it. */
  #endPart(): void {
    const next = this.#query.charAt(this.#at);
    if (/^[\s)]?$/.test(next)) return;
    if (next === ',' || next === ';') throw this.#separator(next);
    throw new QueryFault(this.#at, 'a space is missing here; to include a quote in a quoted term, write \\"');
  }

  #take(character: string): boolean {
    const isNext = this.#query[this.#at] === character;
    if (isNext) this.#at++;
    return isNext;
  }

  /** What the sticky expression matches here; undefined if it does not. */
  #match(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const written = expression.exec(this.#query)?.[0];
    this.#at += written?.length ?? 0;
    return written;
  }
}

/** Why a query cannot be read. Thrown inside this folder only; `parseRuleQuery` returns it. */
export class QueryFault extends Error {
  override name = 'QueryFault';
  /** In UTF-16 code units from the start of the query; its length for a fault at the end. */
  readonly position: number;

  constructor(position: number, message: string) {
    super(message);
    this.position = position;
  }
}

/** How many code units of a long line are shown on each side of the position. */
const SHOWN_AROUND = 60;
const LINE_BREAK = /[\n\v\f\r\u0085\u2028\u2029]/;
/** Two columns wide in the fonts that terminals and editors use. */
const WIDE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u3003\uff01-\uff60\p{Emoji_Presentation}]/u;
const WIDE_SPACE = '\u3000';

/** The line of the query that holds the position, and a line with a caret under the place. */
export function pointAt(query: string, position: number): string {
  const [before = ''] = query
    .slice(Math.max(0, position - SHOWN_AROUND), position)
    .split(LINE_BREAK)
    .slice(-1);
  const [after = ''] = query.slice(position, position + SHOWN_AROUND).split(LINE_BREAK, 1);
  const isCut = before.length === SHOWN_AROUND && position > SHOWN_AROUND;
  const isCutAfter = after.length === SHOWN_AROUND && position + SHOWN_AROUND < query.length;
  const line = `${isCut ? '…' : ''}${printable(before)}`;
  return `${line}${printable(after)}${isCutAfter ? '…' : ''}\n${blankLike(line)}^`;
}

/** One character for each, so that the caret stays in place: a cut pair, a control or an invisible one shows as �. */
function printable(text: string): string {
  return text.toWellFormed().replace(/\t/g, ' ').replace(/\p{C}/gu, '\ufffd');
}

function blankLike(line: string): string {
  return Array.from(line, (character) => {
    if (/\p{M}/u.test(character)) return '';
    return WIDE.test(character) ? WIDE_SPACE : ' ';
  }).join('');
}

export const TEXTS: readonly SearchedText[] = ['title', 'body', 'post_title'];

/** Names that stand before a colon and limit the whole rule. */
export const FILTERS = ['in', 'sub', 'author', 'lang', 'is', 'nsfw', 'once'] as const;
export type FilterName = (typeof FILTERS)[number];

/** Before a term that has no condition and yet belongs to `terms`. */
export const PLAIN_TERM = 'term';

const FIELD_NAMES: readonly string[] = [...TEXTS, ...FILTERS, PLAIN_TERM];
/** What other searches call them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  allintitle: 'title',
  community: 'sub',
  from: 'author',
  intext: 'body',
  intitle: 'title',
  kind: 'is',
  language: 'lang',
  posttitle: 'post_title',
  r: 'sub',
  selftext: 'body',
  subreddit: 'sub',
  text: 'body',
  type: 'is',
  u: 'author',
  user: 'author',
};

export function isText(name: string): name is SearchedText {
  return TEXTS.some((text) => text === name);
}

function isFilter(name: string): name is FilterName {
  return FILTERS.some((filter) => filter === name);
}

/** What to say about a name before a colon that is not one of the fields. */
function unknownField(written: string): string {
  const name = written.toLowerCase();
  const meant = ELSEWHERE[name] ?? FIELD_NAMES.find((known) => isOneEditAway(name, known));
  const hint =
    meant === undefined ? `the fields are ${FIELD_NAMES.slice(0, -1).join(', ')}` : `did you mean "${meant}:"`;
  return `"${written.slice(0, 30)}:" is not a field: ${hint}; put a term that contains a colon in quotes`;
}
