import { searchableWords } from '../matching/searchable-words.ts';
import type { Rule, RuleTerm, SearchedText } from '../matching/rule.ts';
import { authorKey, subredditKey } from '../matching/validate-rule.ts';

/** The columns of items that hold words, separated by spaces. */
const WORDS = 'words';
const POST_TITLE_WORDS = 'post_title_words';
/** Stands in post_title_words for words that were not archived (schemas/clickhouse/0001_schema.sql). */
const UNKNOWN_WORDS = '?';
const USUAL_TEXTS: readonly SearchedText[] = ['title', 'body'];
/** True of every item. */
const EVERYTHING = 'true';

/**
 * The condition in SQL that every item satisfies which the rule matches; others may satisfy it too. It only uses the
 * words that the archiver wrote, which are those of matching, and comparisons that are at least as wide as matching's.
 * Excluded terms and names never narrow: an item that they reject must not be missed when they change.
 *
 * It belongs into WHERE of a SELECT from items: there the engine cuts the columns as their text indexes do. Elsewhere
 * it would cut words at other characters.
 */
export function narrowRule(rule: Rule): string {
  const { keywords, terms = [], require = [], matchIn } = rule;
  const usual = textsOf(matchIn, USUAL_TEXTS);
  const groups = [[...keywords, ...terms], ...require];
  const conditions = [...filterConditions(rule), ...groups.map((group) => groupCondition(group, usual))];
  const narrowing = conditions.filter((condition) => condition !== EVERYTHING);
  return narrowing.length === 0 ? EVERYTHING : narrowing.join('\n   AND ');
}

/** An absent or empty list means the usual ones. */
function textsOf(given: readonly SearchedText[] | undefined, usual: readonly SearchedText[]): readonly SearchedText[] {
  return given === undefined || given.length === 0 ? usual : given;
}

/** The condition that an item with one of the terms satisfies. */
function groupCondition(group: readonly (string | RuleTerm)[], usual: readonly SearchedText[]): string {
  if (group.length === 0) return EVERYTHING;
  const wanted = new Map<string, WantedWords>();
  for (const term of group) {
    const { text, prefix = false, in: texts }: RuleTerm = typeof term === 'string' ? { text: term } : term;
    const words = searchableWords(text).map((word) => word.toWellFormed());
    if (words.length === 0) return EVERYTHING;
    for (const column of columnsOf(textsOf(texts, usual))) {
      let inColumn = wanted.get(column);
      if (inColumn === undefined) wanted.set(column, (inColumn = new WantedWords(column)));
      inColumn.add(words, prefix);
    }
  }
  return `(${[...wanted.values()].flatMap((words) => words.conditions()).join('\n        OR ')})`;
}

function columnsOf(texts: readonly SearchedText[]): string[] {
  const columns = [];
  if (texts.some((text) => text !== 'post_title')) columns.push(WORDS);
  if (texts.includes('post_title')) columns.push(POST_TITLE_WORDS);
  return columns;
}

/** The words of a group's terms that are looked for in one column. */
class WantedWords {
  readonly #column: string;
  readonly #single = new Set<string>();
  readonly #several = new Set<string>();
  readonly #prefixes = new Set<string>();

  constructor(column: string) {
    this.#column = column;
    if (column === POST_TITLE_WORDS) this.#single.add(UNKNOWN_WORDS);
  }

  /** @param words of a term; an item must have all of them, or for a prefix one that begins with the only one */
  add(words: readonly string[], prefix: boolean): void {
    if (prefix && words.length === 1) this.#prefixes.add(words[0] ?? '');
    else if (words.length === 1) this.#single.add(words[0] ?? '');
    else this.#several.add(sqlStrings(words));
  }

  /** Conditions of which an item satisfies one. */
  conditions(): string[] {
    const column = this.#column;
    return [
      ...(this.#single.size > 0 ? [`hasAnyTokens(${column}, ${sqlStrings([...this.#single])})`] : []),
      ...[...this.#several].map((words) => `hasAllTokens(${column}, ${words})`),
      ...[...this.#prefixes].map((prefix) => `position(' ' || ${column}, ${sqlString(` ${prefix}`)}) > 0`),
    ];
  }
}

function filterConditions({ posts, comments, nsfw, subreddits, authors = [], languages = [] }: Rule): string[] {
  return [
    ...(posts && comments ? [] : [`kind = ${posts ? `'post'` : comments ? `'comment'` : `''`}`]),
    ...(nsfw ? [] : ['NOT nsfw']),
    ...(subreddits.length === 0 ? [] : [nameCondition('subreddit', subreddits.map(subredditKey))]),
    ...(authors.length === 0 ? [] : [nameCondition('author', authors.map(authorKey))]),
    ...(languages.length === 0 ? [] : [languageCondition(languages)]),
  ];
}

/** Unusual names, such as those in other alphabets, fold differently in SQL, so they are left to matching. */
function nameCondition(column: string, keys: readonly string[]): string {
  return `(lower(${column}) IN ${sqlStrings(keys)} OR NOT match(${column}, '^[A-Za-z0-9_-]*$'))`;
}

/** Items that were archived before languages were have none, which matching reads as undecided. */
function languageCondition(languages: readonly string[]): string {
  return `language IN ${sqlStrings(languages.includes('und') ? [...languages, ''] : languages)}`;
}

function sqlStrings(texts: readonly string[]): string {
  return `[${texts.map(sqlString).join(', ')}]`;
}

/** A literal in the statement, because many words would be too long for the address of a request. */
function sqlString(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
