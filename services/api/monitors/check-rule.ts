import type { MonitorTerm, RefinementChanges, UnsavedSettings } from '../../../schemas/api/monitors.ts';
import { ITEM_LANGUAGES, UNDECIDED_LANGUAGE } from '../../../schemas/messages/forum-item.ts';
import { parseEmailAddress } from '../../../shared/accounts/rules/mailbox.ts';
import type { Rule, RuleRefinements } from '../../../shared/matching/rule.ts';
import {
  validateLanguages,
  validateNames,
  validateRequire,
  validateRuleTerms,
  validateSearchedTexts,
  validateTermCount,
  validateTerms,
} from '../../../shared/matching/validate-rule.ts';
import type { GivenTerm } from '../../../shared/matching/validate-rule.ts';
import { ruleOf } from '../../../shared/monitors/monitors.ts';
import type { MonitorSettings } from '../../../shared/monitors/monitors.ts';
import type { Fault } from '../http/api-error.ts';
import { refuseFaults } from '../http/api-error.ts';

/** The lists of a rule as sent by a client; PATCH may omit any. */
interface RuleLists {
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
  const subreddits = given.subreddits && validateNames('subreddits', given.subreddits);
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
interface NewRule {
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

/** Conditions to be changed: null removes one, and those that are absent stay as they are. */
export type RefinementsChange = { [Name in keyof RuleRefinements]?: RuleRefinements[Name] | null };

const LANGUAGES: ReadonlySet<string> = new Set([...ITEM_LANGUAGES, UNDECIDED_LANGUAGE]);

/** The conditions of a request in the form that is stored, and what is wrong with them. */
function checkRefinements(given: RefinementChanges): { change: RefinementsChange; faults: Fault[] } {
  const terms = checkedList(given.terms, (list) => validateRuleTerms(list.map(givenTerm)));
  const require = checkedList(given.require, (groups) =>
    validateRequire(groups.map((group) => group.map((term) => (typeof term === 'string' ? term : givenTerm(term))))),
  );
  const matchIn = checkedList(given.match_in, (texts) => validateSearchedTexts('match_in', texts));
  const excludeSubreddits = checkedList(given.exclude_subreddits, (names) =>
    validateNames('exclude_subreddits', names),
  );
  const authors = checkedList(given.authors, (names) => validateNames('authors', names));
  const excludeAuthors = checkedList(given.exclude_authors, (names) => validateNames('exclude_authors', names));
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

/** Spikes are sent to the webhook only, so asking for them without one is a mistake of the client. */
export function spikeFaults(isAskedFor: boolean, { webhookUrl }: Pick<MonitorSettings, 'webhookUrl'>): Fault[] {
  return isAskedFor && webhookUrl === null ? [{ field: 'spike_webhook', message: 'needs a webhook_url' }] : [];
}

/**
 * A digest goes to the webhook or, without one, to the address of the account. The demo account has no address that
 * mail can be sent to, so its matches would be sent nowhere.
 */
export function digestFaults({ digest, webhookUrl }: MonitorSettings, email: string): Fault[] {
  if (digest === null || webhookUrl !== null || parseEmailAddress(email) !== undefined) return [];
  return [
    { field: 'digest', message: 'needs a webhook_url, because no mail can be sent to the address of the account' },
  ];
}

/**
 * The rule of settings that are not stored, with every check that the same fields get in POST /v1/monitors. Name and
 * webhook are ignored.
 *
 * @throws ApiError invalid_request; the fields are named below `settings`
 */
export function unsavedRule(settings: UnsavedSettings): Rule {
  const { rule, faults } = checkNewRule(settings);
  refuseFaults(faults.map(({ field, message }) => ({ field: `settings.${field}`, message })));
  const { posts, comments, nsfw, thread_once: threadOnce } = settings;
  return ruleOf({
    ...rule,
    posts,
    comments,
    nsfw,
    threadOnce: threadOnce ?? false,
    webhookUrl: null,
    webhookKind: null,
  });
}
