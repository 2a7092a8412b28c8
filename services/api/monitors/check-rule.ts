import type { RefinementChanges } from '../../../schemas/api/monitors/monitor-refinements.ts';
import type { RuleRefinements } from '../../../shared/matching/rule.ts';
import { validateTermCount } from '../../../shared/matching/validate-refinements.ts';
import { validateTerms } from '../../../shared/matching/validate-rule.ts';
import type { Fault } from '../http/api-error.ts';
import { changedRefinements, checkRefinements } from './check-refinements.ts';
import type { RefinementsChange } from './check-refinements.ts';
import { checkSubreddits } from './check-subreddits.ts';

/** The lists of a rule as sent by a client; PATCH may omit any. */
export interface RuleLists {
  keywords?: string[] | undefined;
  exclude?: string[] | undefined;
  subreddits?: string[] | undefined;
}

/** The lists in the form that is stored, omitted where they were absent. */
export type CheckedRule = RuleLists & { refinements: RefinementsChange };

/**
 * Checks the lists of a rule one by one. Their limits together are checked on the whole rule (`validateTermCount`).
 *
 * @param mayBeTerms whether `terms` may stand for the keywords, so that the rule may be without keywords
 */
export function checkRule(
  given: RuleLists & RefinementChanges,
  mayBeTerms: boolean,
): { rule: CheckedRule; faults: Fault[] } {
  const keywords = given.keywords && validateTerms('keywords', given.keywords, { mayBeEmpty: mayBeTerms });
  const exclude = given.exclude && validateTerms('exclude', given.exclude);
  const subreddits = given.subreddits && checkSubreddits('subreddits', given.subreddits);
  const refinements = checkRefinements(given);
  return {
    rule: {
      keywords: keywords?.terms,
      exclude: exclude?.terms,
      subreddits: subreddits?.names,
      refinements: refinements.change,
    },
    faults: [keywords, exclude, subreddits, refinements].flatMap((checked) => checked?.faults ?? []),
  };
}

/** The lists of a new rule in the form that is stored. */
export interface NewRule {
  keywords: string[];
  exclude: string[];
  subreddits: string[];
  refinements: RuleRefinements | null;
}

/** Checks the lists of a new rule, one by one and together. If there are faults, the rule must not be stored. */
export function checkNewRule(given: RuleLists & RefinementChanges): { rule: NewRule; faults: Fault[] } {
  const { rule, faults } = checkRule(given, given.terms !== undefined);
  const { keywords = [], exclude = [], subreddits = [] } = rule;
  const refinements = changedRefinements(null, rule.refinements);
  if (faults.length === 0) faults.push(...validateTermCount(keywords, refinements?.terms ?? []));
  return { rule: { keywords, exclude, subreddits, refinements }, faults };
}
