import type { RuleTerm, SearchedText } from '../../matching/rule.ts';
import { isText, TEXTS, QueryFault } from './query-reader.ts';
import type { FilterToken, FilterValue, TermToken } from './query-reader.ts';
import type { RuleSettings } from './print-rule-query.ts';

type Kind = 'post' | 'comment';

/** Collects the settings that a query says, and where it says them. */
export class WrittenRule {
  /**
   * Positions by the names that requests have for what stands there: `keywords[0]`, `require[1][0]`. That of a list is
   * the one of its last entry.
   */
  readonly positions = new Map<string, number>();
  readonly #keywords: string[] = [];
  readonly #terms: RuleTerm[] = [];
  readonly #require: (string | RuleTerm)[][] = [];
  readonly #exclude: string[] = [];
  readonly #lists = {
    match_in: [] as SearchedText[],
    subreddits: [] as string[],
    exclude_subreddits: [] as string[],
    authors: [] as string[],
    exclude_authors: [] as string[],
    languages: [] as string[],
  };
  readonly #kinds = { wanted: new Set<string>(), excluded: new Set<string>() };
  #nsfw: string | undefined;
  #threadOnce = false;

  addTerm({ term, hasField, position }: TermToken): void {
    if (isKeyword(term, hasField)) this.#add('keywords', this.#keywords, term.text, position);
    else this.#add('terms', this.#terms, term, position);
  }

  addRequired(group: readonly TermToken[]): void {
    const terms: (string | RuleTerm)[] = [];
    const field = `require[${this.#require.length}]`;
    this.#add('require', this.#require, terms, group[0]?.position ?? 0);
    for (const { term, hasField, position } of group) {
      this.#add(field, terms, isKeyword(term, hasField) ? term.text : term, position);
    }
  }

  addExclusion(text: string, position: number): void {
    this.#add('exclude', this.#exclude, text, position);
  }

  /** @throws QueryFault for a value that the filter does not have */
  addFilter({ name, values }: FilterToken): void {
    for (const value of values) {
      if (name === 'sub') this.#addName(value.isExcluded ? 'exclude_subreddits' : 'subreddits', value);
      else if (name === 'author') this.#addName(value.isExcluded ? 'exclude_authors' : 'authors', value);
      else if (name === 'is') this.#addKind(value);
      else if (value.isExcluded) throw new QueryFault(value.position, `"${name}:" cannot be excluded`);
      else if (name === 'lang') this.#addName('languages', { ...value, text: value.text.toLowerCase() });
      else if (name === 'in') this.#addText(value);
      else if (name === 'nsfw') this.#setNsfw(value);
      else this.#setOnce(value);
    }
  }

  settings(): RuleSettings {
    const lists = this.#lists;
    const { wanted, excluded } = this.#kinds;
    const watches = (kind: Kind) => (wanted.size === 0 || wanted.has(kind)) && !excluded.has(kind);
    return {
      keywords: this.#keywords,
      exclude: this.#exclude,
      subreddits: lists.subreddits,
      posts: watches('post'),
      comments: watches('comment'),
      nsfw: this.#nsfw === 'yes',
      ...(this.#terms.length > 0 && { terms: this.#terms }),
      ...(this.#require.length > 0 && { require: this.#require }),
      ...(lists.match_in.length > 0 && { matchIn: lists.match_in }),
      ...(lists.exclude_subreddits.length > 0 && { excludeSubreddits: lists.exclude_subreddits }),
      ...(lists.authors.length > 0 && { authors: lists.authors }),
      ...(lists.exclude_authors.length > 0 && { excludeAuthors: lists.exclude_authors }),
      ...(lists.languages.length > 0 && { languages: lists.languages }),
      threadOnce: this.#threadOnce,
    };
  }

  #add<T>(field: string, list: T[], entry: T, position: number): void {
    this.positions.set(`${field}[${list.length}]`, position).set(field, position);
    list.push(entry);
  }

  #addName(
    field: 'subreddits' | 'exclude_subreddits' | 'authors' | 'exclude_authors' | 'languages',
    { text, position }: FilterValue,
  ): void {
    this.#add(field, this.#lists[field], text, position);
  }

  #addText({ text, position }: FilterValue): void {
    const name = text.toLowerCase();
    if (!isText(name)) throw new QueryFault(position, `"in:" takes ${TEXTS.join(', ')}`);
    this.#add('match_in', this.#lists.match_in, name, position);
  }

  #addKind({ text, isExcluded, position }: FilterValue): void {
    const kind = text.toLowerCase();
    if (kind !== 'post' && kind !== 'comment') throw new QueryFault(position, '"is:" takes post, comment');
    (isExcluded ? this.#kinds.excluded : this.#kinds.wanted).add(kind);
  }

  #setNsfw({ text, position }: FilterValue): void {
    const value = text.toLowerCase();
    if (value !== 'yes' && value !== 'no') throw new QueryFault(position, '"nsfw:" takes yes, no');
    if (this.#nsfw !== undefined && this.#nsfw !== value) {
      throw new QueryFault(position, `this contradicts "nsfw:${this.#nsfw}" before it`);
    }
    this.#nsfw = value;
  }

  #setOnce({ text, position }: FilterValue): void {
    if (text.toLowerCase() !== 'thread') throw new QueryFault(position, '"once:" takes thread');
    this.#threadOnce = true;
  }
}

/** Whether it can be written as a string instead of an object. */
function isKeyword({ prefix, caseSensitive }: RuleTerm, hasField: boolean): boolean {
  return !hasField && prefix !== true && caseSensitive !== true;
}
