import type { MatchItem, Rule, RuleTerm, SearchedText } from '../../../shared/matching/rule.ts';
import { hasNaiveCase, isNaivePrefix, naiveSearch } from './naive-matcher.ts';
import { fold, foldAllButCase } from './reference-fold.ts';

/**
 * A second implementation of a whole rule: string folding, then one regular expression per term, for every text by
 * itself. From shared/matching it uses only the table of case folding. It is simple and slow.
 */

const AROUND = /^[\s_"'‘“”„«»「」]+|[\s_"'‘“”„«»「」]+$/g;

type Search = (foldedText: string) => boolean;

/** The folded keyword without markup, or empty. Of several keywords with the same result the first counts. */
export function referenceTerm(written: string): string {
  return fold(written).replace(AROUND, '');
}

/** Regular expressions are costly to compile, and properties use the same few terms many times. */
const compiled = new Map<string, Search>();

export function referenceSearch(written: string): Search {
  return keywordOf(written).search;
}

interface ReferenceTerm {
  readonly written: string;
  /** Equal for terms that find the same. */
  readonly key: string;
  readonly isCased: boolean;
  readonly search: Search;
}

const known = new WeakMap<RuleTerm, ReferenceTerm>();

const knownKeywords = new Map<string, ReferenceTerm>();

function keywordOf(text: string): ReferenceTerm {
  const found = knownKeywords.get(text) ?? compile({ text });
  if (knownKeywords.size > 20_000) knownKeywords.clear();
  knownKeywords.set(text, found);
  return found;
}

function searchOf(term: RuleTerm): ReferenceTerm {
  const found = known.get(term) ?? compile(term);
  known.set(term, found);
  return found;
}

function compile({ text, prefix = false, caseSensitive = false }: RuleTerm): ReferenceTerm {
  const folded = referenceTerm(text);
  const isCased = caseSensitive && hasNaiveCase(folded);
  const isPrefix = prefix && isNaivePrefix(folded);
  const term = isCased ? foldAllButCase(text).replace(AROUND, '') : folded;
  const key = `${isCased ? 'c' : ''}${isPrefix ? 'p' : ''} ${term}`;
  const search = compiled.get(key) ?? naiveSearch(term, { prefix: isPrefix, caseSensitive: isCased });
  if (compiled.size > 20_000) compiled.clear();
  compiled.set(key, search);
  return { written: text, key: folded === '' ? '' : key, isCased, search };
}

/** The texts of an item by the names that rules use. */
function referenceTexts(item: MatchItem): ReadonlyMap<SearchedText, string> {
  const texts = new Map<SearchedText, string>();
  const isGone = (text: string): boolean =>
    /^\s*\[ ?(?:deleted|removed)(?: by (?:user|moderator|reddit(?: (?:on account of|in response to) .+)?))? ?\]\s*$/i.test(
      text,
    );
  if (!isGone(item.title)) texts.set(item.kind === 'post' ? 'title' : 'post_title', item.title);
  if (!isGone(item.text)) texts.set('body', item.text);
  return texts;
}

const community = (name: string): string =>
  name
    .trim()
    .replace(/^\/?r\//i, '')
    .toLowerCase();

const account = (name: string): string =>
  name
    .trim()
    .replace(/^\/?u(ser)?\//i, '')
    .toLowerCase();

export function referenceBlocked(rule: Rule, item: MatchItem): string | undefined {
  const isIn = (list: readonly string[] = [], name: string | undefined, key: (name: string) => string): boolean =>
    name !== undefined && list.some((each) => key(each) === key(name));
  const author = item.author === '[deleted]' ? undefined : item.author;
  if (!(item.kind === 'post' ? rule.posts : rule.comments)) return 'kind';
  if (item.nsfw && !rule.nsfw) return 'nsfw';
  if (rule.subreddits.length > 0 && !isIn(rule.subreddits, item.subreddit, community)) return 'subreddit';
  if (isIn(rule.excludeSubreddits, item.subreddit, community)) return 'subreddit_excluded';
  if ((rule.authors ?? []).length > 0 && !isIn(rule.authors, author, account)) return 'author';
  if (isIn(rule.excludeAuthors, author, account)) return 'author_excluded';
  const isSpoken = (rule.languages ?? []).length === 0 || rule.languages?.includes(item.language ?? 'und') === true;
  return isSpoken ? undefined : 'language';
}

const USUAL: readonly SearchedText[] = ['title', 'body'];

const listOr = <T>(list: readonly T[] | undefined, usual: readonly T[]): readonly T[] =>
  list === undefined || list.length === 0 ? usual : list;

/** The texts in which a term of the rule counts. */
function textsFor(term: string | RuleTerm, rule: Pick<Rule, 'matchIn'>): readonly SearchedText[] {
  return listOr(typeof term === 'string' ? undefined : term.in, listOr(rule.matchIn, USUAL));
}

/** The folded forms of the texts that were searched last. */
const foldedTexts = new Map<string, string>();

function occursIn({ isCased, search }: ReferenceTerm, text: string): boolean {
  const key = `${isCased ? 'c' : ''} ${text}`;
  const folded = foldedTexts.get(key) ?? (isCased ? foldAllButCase(text) : fold(text));
  if (foldedTexts.size > 20) foldedTexts.clear();
  foldedTexts.set(key, folded);
  return search(folded);
}

/** The terms that occur where they count, in their order, equal ones once, and each spelling once. */
function occurring(terms: readonly (string | RuleTerm)[], rule: Pick<Rule, 'matchIn'>, item: MatchItem): string[] {
  const texts = referenceTexts(item);
  const seen = new Set<string>();
  const found = new Set<string>();
  for (const given of terms) {
    const term = typeof given === 'string' ? keywordOf(given) : searchOf(given);
    const searched = textsFor(given, rule);
    const key = `${[...searched].sort().join()} ${term.key}`;
    if (term.key === '' || seen.has(key)) continue;
    seen.add(key);
    if (searched.some((name) => texts.has(name) && occursIn(term, texts.get(name) ?? ''))) found.add(term.written);
  }
  return [...found];
}

/** The expected result of `matchOne`. */
export function referenceMatch(rule: Rule, item: MatchItem): string[] | undefined {
  if (referenceBlocked(rule, item) !== undefined) return undefined;
  const { keywords, terms = [], require = [], exclude } = rule;
  const matched = occurring([...keywords, ...terms], rule, item);
  if (matched.length === 0) return undefined;
  if (require.some((group) => occurring(group, rule, item).length === 0)) return undefined;
  const all = [...keywords, ...terms, ...require.flat()];
  const seesPostTitle = all.some((term) => textsFor(term, rule).includes('post_title'));
  const excludeIn: SearchedText[] = seesPostTitle ? ['title', 'body', 'post_title'] : ['title', 'body'];
  return occurring(exclude, { matchIn: excludeIn }, item).length > 0 ? undefined : matched;
}
