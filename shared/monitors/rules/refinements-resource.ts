import type { MonitorTerm, RefinementFields } from '../../../schemas/api/monitors.ts';
import type { RuleRefinements, RuleTerm } from '../../matching/rule.ts';

export function refinementsResource(refinements: RuleRefinements | null, threadOnce: boolean): RefinementFields {
  const { terms, require, matchIn, excludeSubreddits, authors, excludeAuthors, languages } = refinements ?? {};
  return {
    ...(terms && { terms: terms.map(termResource) }),
    ...(require && {
      require: require.map((group) => group.map((term) => (typeof term === 'string' ? term : termResource(term)))),
    }),
    ...(matchIn && { match_in: [...matchIn] }),
    ...(excludeSubreddits && { exclude_subreddits: [...excludeSubreddits] }),
    ...(authors && { authors: [...authors] }),
    ...(excludeAuthors && { exclude_authors: [...excludeAuthors] }),
    ...(languages && { languages: [...languages] }),
    ...(threadOnce && { thread_once: true }),
  };
}

function termResource({ text, prefix, caseSensitive, in: texts }: RuleTerm): MonitorTerm {
  return {
    text,
    ...(prefix === true && { prefix }),
    ...(caseSensitive === true && { case_sensitive: caseSensitive }),
    ...(texts && { in: [...texts] }),
  };
}
