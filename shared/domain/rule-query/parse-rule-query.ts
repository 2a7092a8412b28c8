import { pointAt, QueryFault } from './query-fault.ts';
import { QueryParser } from './query-parser.ts';
import type { RuleSettings } from './rule-settings.ts';

/**
 * In UTF-16 code units. Every rule fits: 140 terms of 100 characters with two units each (28,000), a third as much for
 * their quotes, fields and operators, and 250 names of at most 25 units.
 */
export const MAX_QUERY_LENGTH = 50_000;

/** Why a query was refused. */
export interface QueryRefusal {
  /** In UTF-16 code units from 0; the length of the query for a fault at its end. */
  position: number;
  /** One line. */
  message: string;
}

/** A query that could be read. Its terms and names are not validated yet. */
export interface ParsedQuery {
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
