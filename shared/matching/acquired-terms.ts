import type { WatchedTerm } from './rule-terms.ts';
import type { TermIndex } from './terms/term-index.ts';

/** The terms of a group of a rule that the index has, and to which the rule has a reference. */
export interface AcquiredTerms {
  readonly terms: readonly WatchedTerm[];
  /** The address of each in the heap. */
  readonly addresses: readonly number[];
}

export const NOTHING: AcquiredTerms = { terms: [], addresses: [] };

/** Leaves out terms that have nothing to search for, and terms that equal an earlier one of the group. */
export function acquireTerms(index: TermIndex, group: readonly WatchedTerm[]): AcquiredTerms {
  const terms: WatchedTerm[] = [];
  const addresses: number[] = [];
  for (const term of group) {
    const address = index.acquire(term.written, term.options);
    if (address === 0) continue;
    if (hasEqual({ terms, addresses }, address, term.texts)) index.release(term.written, term.options);
    else {
      terms.push(term);
      addresses.push(address);
    }
  }
  return { terms, addresses };
}

function hasEqual({ terms, addresses }: AcquiredTerms, address: number, texts: number): boolean {
  for (let index = 0; index < addresses.length; index++) {
    if (addresses[index] === address && terms[index]?.texts === texts) return true;
  }
  return false;
}
