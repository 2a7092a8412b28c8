/**
 * One row of the matching rules as data: a keyword, texts that it matches, and texts that it does not match. Characters
 * that are invisible, or that look alike, are written as escapes.
 */
export interface TermCase {
  /** The number of the rule and what the row shows of it. */
  rule: string;
  keyword: string;
  matches: readonly string[];
  misses: readonly string[];
}
