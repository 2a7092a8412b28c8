import { TermIndex } from './terms/term-index.ts';

/**
 * One fault of a rule. `field` is the name that the client knows: `keywords`, `keywords[2]` counting from 0, or
 * `terms[0].text`.
 */
export interface RuleFault {
  field: string;
  message: string;
}

/** Of one list, and of one group of `require`. */
export const MAX_TERMS = 20;
export const NOTHING_TO_SEARCH =
  'has nothing to search for: it consists only of spaces, quotes, underscores or invisible characters';
const MIN_TERM_LENGTH = 2;
const MAX_TERM_LENGTH = 100;

const ONE_EMOJI = /^\p{Extended_Pictographic}$/u;
const SUBREDDIT = /^(?:u_[A-Za-z0-9_-]{2,20}|[A-Za-z0-9_]{2,21})$/;
const PREFIX = /^\/?r\//i;

/** What is wrong with the length of a trimmed term. */
export function termFault(term: string): string | undefined {
  // A code point has at most two code units, so a longer term need not be counted.
  const length = term.length > 2 * MAX_TERM_LENGTH ? term.length : Array.from(term).length;
  if ((length >= MIN_TERM_LENGTH && length <= MAX_TERM_LENGTH) || ONE_EMOJI.test(term)) return undefined;
  return `must have ${MIN_TERM_LENGTH} to ${MAX_TERM_LENGTH} characters, not counting spaces around it, or be an emoji`;
}

/**
 * Validates the terms of a rule and returns them as they are stored: trimmed, and only the first of several terms that
 * are equal after folding. Lengths are in code points. Reports all faults together, but does not check the terms one by
 * one if there are too many. If there are faults, the returned terms must not be stored.
 *
 * @param options.mayBeEmpty for keywords of a rule that may have `terms` instead (`validateTermCount`)
 */
export function validateTerms(
  field: 'keywords' | 'exclude',
  terms: readonly string[],
  { mayBeEmpty = false } = {},
): { terms: string[]; faults: RuleFault[] } {
  if (terms.length > MAX_TERMS) {
    return { terms: [], faults: [{ field, message: `must have at most ${MAX_TERMS} terms` }] };
  }
  if (field === 'keywords' && terms.length === 0 && !mayBeEmpty) {
    return { terms: [], faults: [{ field, message: 'must have at least one term' }] };
  }
  const index = new TermIndex();
  const kept = new Map<number, string>();
  const faults: RuleFault[] = [];
  terms.forEach((written, position) => {
    const term = written.trim();
    const message = termFault(term);
    const key = message === undefined ? index.acquire(term) : 0;
    if (message !== undefined) faults.push({ field: `${field}[${position}]`, message });
    else if (key === 0) faults.push({ field: `${field}[${position}]`, message: NOTHING_TO_SEARCH });
    else if (!kept.has(key)) kept.set(key, term);
  });
  return { terms: [...kept.values()], faults };
}

/**
 * Returns a community's name without surrounding spaces and without `r/` or `/r/`, or undefined if it is not a valid
 * name. Names of communities have 2 to 21 letters, digits and underscores. A user's own community is `u_` and the
 * user's name, which may have hyphens.
 */
export function normalizeSubreddit(name: string): string | undefined {
  const bare = name.trim().replace(PREFIX, '');
  return SUBREDDIT.test(bare) ? bare : undefined;
}

/** The form in which community names are compared: without a prefix, in lower case. */
export function subredditKey(name: string): string {
  return name.trim().replace(PREFIX, '').toLowerCase();
}
