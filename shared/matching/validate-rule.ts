import { TermIndex } from './terms/term-index.ts';

/** One thing that is wrong, named as the client knows it: `keywords`, or `keywords[2]` counting from 0. */
export interface RuleFault {
  field: string;
  message: string;
}

const MOST_TERMS = 20;
const SHORTEST_TERM = 2;
const LONGEST_TERM = 100;

const COMMUNITY = /^(?:u_[A-Za-z0-9_-]{2,20}|[A-Za-z0-9_]{2,21})$/;
const PREFIX = /^\/?r\//i;

function termFault(term: string): string | undefined {
  // A code point has at most two code units: what is longer than that is not worth counting.
  const length = term.length > 2 * LONGEST_TERM ? term.length : Array.from(term).length;
  if (length < SHORTEST_TERM || length > LONGEST_TERM) {
    return `must have ${SHORTEST_TERM} to ${LONGEST_TERM} characters, not counting spaces around it`;
  }
  return undefined;
}

/**
 * Checks the terms of a rule and brings them into the form to be stored: trimmed, and of several that are equal after
 * folding only the first. Lengths are counted in code points. All faults are reported, except that too many terms are
 * not looked at one by one. With faults the terms are not fit to be stored.
 */
export function validateTerms(
  field: 'keywords' | 'exclude',
  terms: readonly string[],
): { terms: string[]; faults: RuleFault[] } {
  if (terms.length > MOST_TERMS) {
    return { terms: [], faults: [{ field, message: `must have at most ${MOST_TERMS} terms` }] };
  }
  if (field === 'keywords' && terms.length === 0) {
    return { terms: [], faults: [{ field, message: 'must have at least one term' }] };
  }
  const index = new TermIndex();
  const kept = new Map<number, string>();
  const faults: RuleFault[] = [];
  terms.forEach((written, position) => {
    const term = written.trim();
    const message = termFault(term);
    const key = message === undefined ? index.hold(term) : 0;
    if (message !== undefined) faults.push({ field: `${field}[${position}]`, message });
    else if (key === 0) {
      faults.push({
        field: `${field}[${position}]`,
        message: 'holds nothing to search for: only spaces, quotes, underscores or invisible characters',
      });
    } else if (!kept.has(key)) kept.set(key, term);
  });
  return { terms: [...kept.values()], faults };
}

/**
 * A community's name as written, without spaces around it and without `r/` or `/r/`; undefined when no community can be
 * called so. Communities are 2 to 21 letters, digits and underscores; a user's own is `u_` and the user's name, which
 * may have hyphens.
 */
export function normalizeSubreddit(name: string): string | undefined {
  const bare = name.trim().replace(PREFIX, '');
  return COMMUNITY.test(bare) ? bare : undefined;
}

/** The form in which names of communities are compared: no prefix, one case. */
export function subredditKey(name: string): string {
  return name.trim().replace(PREFIX, '').toLowerCase();
}
