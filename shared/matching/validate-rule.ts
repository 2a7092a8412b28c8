import type { RuleTerm, SearchedText } from './rule.ts';
import { TermIndex } from './terms/term-index.ts';

/** `field` is the name that the client knows: `keywords`, `keywords[2]` counting from 0, or `terms[0].text`. */
export interface RuleFault {
  field: string;
  message: string;
}

/** The most terms of one list, and of one group of `require`. */
export const MAX_TERMS = 20;
export const MAX_GROUPS = 5;
const MAX_NAMES = 50;
/** All of them, in the order in which they are stored. */
const SEARCHED_TEXTS: readonly SearchedText[] = ['title', 'body', 'post_title'];
const NOTHING_TO_SEARCH = 'contains nothing to match: it has only spaces, quotes, underscores or invisible characters';
const MIN_TERM_LENGTH = 2;
const MAX_TERM_LENGTH = 100;

const ONE_EMOJI = /^\p{Extended_Pictographic}$/u;
const SUBREDDIT = /^(?:u_[A-Za-z0-9_-]{2,20}|[A-Za-z0-9_]{2,21})$/;
const PREFIX = /^\/?r\//i;

function termFault(term: string): string | undefined {
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
  if (terms.length > MAX_TERMS) return { terms: [], faults: [tooMany(field)] };
  if (field === 'keywords' && terms.length === 0 && !mayBeEmpty) {
    return { terms: [], faults: [{ field, message: 'must have at least one term' }] };
  }
  const list = new TermList();
  for (const [position, term] of terms.entries()) list.add(`${field}[${position}]`, term);
  return { terms: list.kept as string[], faults: list.faults };
}

export interface GivenTerm {
  text: string;
  prefix?: boolean | undefined;
  caseSensitive?: boolean | undefined;
  in?: readonly string[] | undefined;
}

/** Validates the number of keywords and terms together, for a rule whose lists are complete. */
export function validateTermCount(keywords: readonly unknown[], terms: readonly unknown[]): RuleFault[] {
  const count = keywords.length + terms.length;
  if (count === 0) return [{ field: 'keywords', message: 'must have at least one term, or "terms" must' }];
  if (terms.length === 0 || count <= MAX_TERMS) return [];
  return [{ field: 'terms', message: `must have at most ${MAX_TERMS} terms together with keywords` }];
}

/**
 * Validates `terms` and returns them as they are stored: trimmed, without members that say nothing, and only the first
 * of several equal ones. If there are faults, the returned terms must not be stored.
 */
export function validateRuleTerms(given: readonly GivenTerm[]): { terms: RuleTerm[]; faults: RuleFault[] } {
  if (given.length > MAX_TERMS) return { terms: [], faults: [tooMany('terms')] };
  const list = new TermList();
  given.forEach((term, position) => {
    list.add(`terms[${position}]`, term);
  });
  return { terms: list.kept as RuleTerm[], faults: list.faults };
}

/**
 * Validates `require`: 1 to 20 terms in each of at most five groups. Returns the groups as they are stored, like
 * `validateRuleTerms`; strings stay strings.
 */
export function validateRequire(given: readonly (readonly (string | GivenTerm)[])[]): {
  require: (string | RuleTerm)[][];
  faults: RuleFault[];
} {
  if (given.length > MAX_GROUPS) {
    return { require: [], faults: [{ field: 'require', message: `must have at most ${MAX_GROUPS} groups` }] };
  }
  const groups = given.map((group, number) => {
    const field = `require[${number}]`;
    const list = new TermList();
    if (group.length === 0) list.faults.push({ field, message: 'must have at least one term' });
    if (group.length > MAX_TERMS) list.faults.push(tooMany(field));
    else for (const [position, term] of group.entries()) list.add(`${field}[${position}]`, term);
    return list;
  });
  return { require: groups.map(({ kept }) => kept), faults: groups.flatMap(({ faults }) => faults) };
}

/** Validates `match_in` or the `in` of a term. Returns each text once; undefined means the usual texts. */
export function validateSearchedTexts(
  field: string,
  given: readonly string[],
): { texts: SearchedText[] | undefined; faults: RuleFault[] } {
  const faults = given.flatMap((text, position): RuleFault[] =>
    SEARCHED_TEXTS.some((known) => known === text)
      ? []
      : [{ field: `${field}[${position}]`, message: `must be one of ${SEARCHED_TEXTS.join(', ')}` }],
  );
  const texts = SEARCHED_TEXTS.filter((text) => given.includes(text));
  return { texts: texts.length === 0 ? undefined : texts, faults };
}

type NameField = 'subreddits' | 'exclude_subreddits' | 'authors' | 'exclude_authors';

/** Validates at most 50 names. Returns each once, without a prefix, in the spelling that came first. */
export function validateNames(field: NameField, given: readonly string[]): { names: string[]; faults: RuleFault[] } {
  if (given.length > MAX_NAMES) {
    return { names: [], faults: [{ field, message: `must have at most ${MAX_NAMES} names` }] };
  }
  const [normalize, keyOf, what] = field.endsWith('authors')
    ? [normalizeAuthor, authorKey, 'an account, with or without u/']
    : [normalizeSubreddit, subredditKey, 'a community, with or without r/'];
  const names = new Map<string, string>();
  const faults: RuleFault[] = [];
  for (const [position, written] of given.entries()) {
    const name = normalize(written);
    if (name === undefined) faults.push({ field: `${field}[${position}]`, message: `must be the name of ${what}` });
    else if (!names.has(keyOf(name))) names.set(keyOf(name), name);
  }
  return { names: [...names.values()], faults };
}

/** Validates `languages`. Returns each code once. @param known all codes that are allowed, in lower case */
export function validateLanguages(
  given: readonly string[],
  known: ReadonlySet<string>,
): { languages: string[]; faults: RuleFault[] } {
  if (given.length > MAX_NAMES) {
    return { languages: [], faults: [{ field: 'languages', message: `must have at most ${MAX_NAMES} codes` }] };
  }
  const message = 'must be a known ISO 639-1 code in lower case, or "und" for texts whose language is unclear';
  const faults = given.flatMap((code, position) =>
    known.has(code) ? [] : [{ field: `languages[${position}]`, message }],
  );
  return { languages: [...new Set(given)], faults };
}

const MIN_PREFIX_LETTERS = 3;

function hasThreeLetters(text: string): boolean {
  return (text.match(/\p{L}/gu)?.length ?? 0) >= MIN_PREFIX_LETTERS;
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

const AUTHOR = /^[A-Za-z0-9_-]{1,20}$/;
const AUTHOR_PREFIX = /^\/?u(?:ser)?\//i;

/**
 * Returns an account's name without surrounding spaces and without `u/`, `/u/` or `/user/`, or undefined if it is not a
 * valid name: 1 to 20 letters, digits, underscores and hyphens. `[deleted]` is not a name.
 */
export function normalizeAuthor(name: string): string | undefined {
  const bare = name.trim().replace(AUTHOR_PREFIX, '');
  return AUTHOR.test(bare) ? bare : undefined;
}

/** The form in which names of accounts are compared: without a prefix, in lower case. */
export function authorKey(name: string): string {
  return name.trim().replace(AUTHOR_PREFIX, '').toLowerCase();
}

const tooMany = (field: string): RuleFault => ({ field, message: `must have at most ${MAX_TERMS} terms` });

/** A list of terms of which equal ones are merged. */
class TermList {
  readonly kept: (string | RuleTerm)[] = [];
  readonly faults: RuleFault[] = [];
  readonly #index = new TermIndex();
  readonly #keys = new Set<string>();

  add(field: string, given: string | GivenTerm): void {
    const term: GivenTerm = typeof given === 'string' ? { text: given } : given;
    const text = term.text.trim();
    const { texts, faults } = validateSearchedTexts(`${field}.in`, term.in ?? []);
    const message = termFault(text) ?? this.#searchFault(text, term.prefix === true);
    if (message !== undefined) faults.unshift({ field: typeof given === 'string' ? field : `${field}.text`, message });
    this.faults.push(...faults);
    if (faults.length > 0) return;
    const { prefix, caseSensitive } = term;
    const key = JSON.stringify([this.#index.acquire(text, { prefix, caseSensitive }), texts]);
    if (this.#keys.has(key)) return;
    this.#keys.add(key);
    const object: RuleTerm = {
      text,
      ...(prefix === true && { prefix }),
      ...(caseSensitive === true && { caseSensitive }),
      ...(texts !== undefined && { in: texts }),
    };
    this.kept.push(typeof given === 'string' ? text : object);
  }

  #searchFault(text: string, isPrefix: boolean): string | undefined {
    if (this.#index.kindOf(text) === undefined) return NOTHING_TO_SEARCH;
    // Both: an entity has more letters than what it stands for.
    if (!isPrefix || (this.#index.kindOf(text, { prefix: true }) === 'prefix' && hasThreeLetters(text)))
      return undefined;
    return 'must be one word of at least 3 letters, in a script with spaces between words, to be matched as a prefix';
  }
}
