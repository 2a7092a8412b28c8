import type { Rule } from './rule.ts';
import { excludedTerm, isPlainRule, packTerm, ruleTerms } from './rule-terms.ts';
import type { WatchedTerm } from './rule-terms.ts';
import type { TermIndex } from './terms/term-index.ts';
import { USUAL_TEXTS } from './text/item-texts.ts';

/** The terms of a group of a rule that the index has, and to which the rule has a reference. */
export interface AcquiredTerms {
  /** As a record keeps them: as their owner wrote them, or packed with their options. */
  readonly written: readonly string[];
  /** For each a bit for each text in which it counts; undefined if each counts in the usual ones. */
  readonly texts: readonly number[] | undefined;
  /** The address of each in the heap. */
  readonly addresses: readonly number[];
}

/** The terms of a rule that the index has. */
export interface AcquiredRule {
  /** Whether the rule has no conditions. */
  readonly isPlain: boolean;
  readonly wanted: AcquiredTerms;
  /** The groups of `require`. */
  readonly required: readonly AcquiredTerms[];
  readonly exclude: AcquiredTerms;
  /** A bit for each text that is searched for excluded terms. */
  readonly excludeTexts: number;
}

const NOTHING: AcquiredTerms = { written: [], texts: undefined, addresses: [] };

/** Leaves out terms that have nothing to search for, and terms that equal an earlier one of their group. */
export function acquireRule(index: TermIndex, rule: Rule): AcquiredRule {
  if (isPlainRule(rule)) {
    const wanted = acquirePlainTerms(index, rule.keywords);
    const exclude = acquirePlainTerms(index, rule.exclude);
    return { isPlain: true, wanted, required: [], exclude, excludeTexts: USUAL_TEXTS };
  }
  const { groups, excludeTexts } = ruleTerms(rule);
  const [wanted = NOTHING, ...required] = groups.map((group) => acquireTerms(index, group));
  const exclude = acquireTerms(index, rule.exclude.map(excludedTerm));
  return { isPlain: false, wanted, required, exclude, excludeTexts };
}

function acquireTerms(index: TermIndex, group: readonly WatchedTerm[]): AcquiredTerms {
  const written: string[] = [];
  const texts: number[] = [];
  const addresses: number[] = [];
  for (const term of group) {
    const address = index.acquire(term.written, term.options);
    if (address === 0) continue;
    if (addresses.some((other, position) => other === address && texts[position] === term.texts)) {
      index.release(term.written, term.options);
      continue;
    }
    written.push(packTerm(term));
    texts.push(term.texts);
    addresses.push(address);
  }
  return { written, texts, addresses };
}

/**
 * The same for terms without conditions, which are not packed. Nearly all terms are such, and a start reads millions:
 * so it makes no object for each, nor a list of them unless some are left out.
 */
function acquirePlainTerms(index: TermIndex, terms: readonly string[]): AcquiredTerms {
  const addresses: number[] = [];
  let kept: string[] | undefined;
  for (const [position, term] of terms.entries()) {
    const address = index.acquire(term);
    const isEqual = address !== 0 && addresses.includes(address);
    if (isEqual) index.release(term);
    if (address === 0 || isEqual) kept ??= terms.slice(0, position);
    else {
      kept?.push(term);
      addresses.push(address);
    }
  }
  return { written: kept ?? terms, texts: undefined, addresses };
}
