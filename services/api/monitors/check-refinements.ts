import type { MonitorTerm, RefinementChanges } from '../../../schemas/api/monitors/monitor-refinements.ts';
import { ITEM_LANGUAGES, UNDECIDED_LANGUAGE } from '../../../schemas/messages/item-languages.ts';
import type { RuleRefinements } from '../../../shared/matching/rule.ts';
import {
  validateAuthors,
  validateLanguages,
  validateRequire,
  validateRuleTerms,
  validateSearchedTexts,
} from '../../../shared/matching/validate-refinements.ts';
import type { GivenTerm } from '../../../shared/matching/validate-refinements.ts';
import type { Fault } from '../http/api-error.ts';
import { checkSubreddits } from './check-subreddits.ts';

/** Conditions to be changed: null removes one, and those that are absent stay as they are. */
export type RefinementsChange = { [Name in keyof RuleRefinements]?: RuleRefinements[Name] | null };

const LANGUAGES: ReadonlySet<string> = new Set([...ITEM_LANGUAGES, UNDECIDED_LANGUAGE]);

/** The conditions of a request in the form that is stored, and what is wrong with them. */
export function checkRefinements(given: RefinementChanges): { change: RefinementsChange; faults: Fault[] } {
  const terms = checkedList(given.terms, (list) => validateRuleTerms(list.map(givenTerm)));
  const require = checkedList(given.require, (groups) =>
    validateRequire(groups.map((group) => group.map((term) => (typeof term === 'string' ? term : givenTerm(term))))),
  );
  const matchIn = checkedList(given.match_in, (texts) => validateSearchedTexts('match_in', texts));
  const excludeSubreddits = checkedList(given.exclude_subreddits, (names) =>
    checkSubreddits('exclude_subreddits', names),
  );
  const authors = checkedList(given.authors, (names) => validateAuthors('authors', names));
  const excludeAuthors = checkedList(given.exclude_authors, (names) => validateAuthors('exclude_authors', names));
  const languages = checkedList(given.languages, (codes) => validateLanguages(codes, LANGUAGES));
  const lists = [terms, require, matchIn, excludeSubreddits, authors, excludeAuthors, languages];
  return {
    change: {
      ...(terms !== undefined && { terms: terms && terms.terms }),
      ...(require !== undefined && { require: require && require.require }),
      ...(matchIn !== undefined && { matchIn: matchIn?.texts ?? null }),
      ...(excludeSubreddits !== undefined && { excludeSubreddits: excludeSubreddits && excludeSubreddits.names }),
      ...(authors !== undefined && { authors: authors && authors.names }),
      ...(excludeAuthors !== undefined && { excludeAuthors: excludeAuthors && excludeAuthors.names }),
      ...(languages !== undefined && { languages: languages && languages.languages }),
    },
    faults: lists.flatMap((list) => list?.faults ?? []),
  };
}

/** The conditions after a change; null when none is left. */
export function changedRefinements(current: RuleRefinements | null, change: RefinementsChange): RuleRefinements | null {
  const kept = Object.entries({ ...current, ...change }).filter(([, condition]) => condition !== null);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** undefined: the request does not name the list; null: it removes it. */
function checkedList<Given, Checked>(
  given: readonly Given[] | null | undefined,
  check: (given: readonly Given[]) => Checked,
): Checked | null | undefined {
  if (given === undefined) return undefined;
  return given === null || given.length === 0 ? null : check(given);
}

function givenTerm({ case_sensitive: caseSensitive, ...term }: MonitorTerm): GivenTerm {
  return { ...term, caseSensitive };
}
