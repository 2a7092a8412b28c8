import type { Monitor, MonitorTerm, RuleSettingsResource } from '../../../../schemas/api/monitors.ts';
import type { RuleSettings } from '../../../../shared/domain/rule-query/rule-settings.ts';
import type { RuleTerm, SearchedText } from '../../../../shared/matching/rule.ts';
import { TermIndex } from '../../../../shared/matching/terms/term-index.ts';
import type { TermKind } from '../../../../shared/matching/terms/term-shape.ts';

/** A rule as the API has it, in the form that matching and its textual form use. What is absent has its usual value. */
export function ruleOf(settings: RuleSettingsResource): RuleSettings {
  const { keywords = [], exclude = [], subreddits = [], posts = true, comments = true, nsfw = false } = settings;
  const { terms, require, match_in: matchIn, authors, languages, thread_once: threadOnce = false } = settings;
  const { exclude_subreddits: excludeSubreddits, exclude_authors: excludeAuthors } = settings;
  return {
    ...{ keywords, exclude, subreddits, posts, comments, nsfw, threadOnce },
    ...(terms && { terms: terms.map(ruleTerm) }),
    ...(require && { require: require.map((group) => group.map((t) => (typeof t === 'string' ? t : ruleTerm(t)))) }),
    ...(matchIn && { matchIn }),
    ...(excludeSubreddits && { excludeSubreddits }),
    ...(authors && { authors }),
    ...(excludeAuthors && { excludeAuthors }),
    ...(languages && { languages }),
  };
}

export function ruleOfMonitor(monitor: Monitor): RuleSettings {
  return ruleOf({ ...monitor, posts: monitor.include_posts, comments: monitor.include_comments });
}

function ruleTerm({ text, prefix, case_sensitive: caseSensitive, in: texts }: MonitorTerm): RuleTerm {
  return {
    text,
    ...(prefix === true && { prefix }),
    ...(caseSensitive === true && { caseSensitive }),
    ...(texts && { in: texts }),
  };
}

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' });

/** Used only to tell what terms consist of. It stays empty. */
const TERMS = new TermIndex();

/**
 * Says in sentences what a rule finds, for its owner to compare with what was meant. Plain text: it holds what people
 * wrote.
 */
export function ruleInWords(rule: RuleSettings): string[] {
  const { keywords, terms = [], require = [], exclude } = rule;
  return [
    `Watches ${watched(rule)}.`,
    `Matches ${oneOf([...keywords, ...terms].map(termInWords))}${where(rule)}.`,
    ...require.map((group) => `AND ${oneOf(group.map(termInWords))}.`),
    ...(exclude.length > 0 ? [`AND NOT ${oneOf(exclude.map(termInWords))}, in any text.`] : []),
    ...people(rule),
    ...languagesInWords(rule.languages ?? []),
    ...(rule.threadOnce ? ['At most one match a thread and day (UTC); further ones are kept but not sent.'] : []),
  ];
}

function watched({ posts, comments, subreddits, excludeSubreddits = [], nsfw }: RuleSettings): string {
  const kinds = [posts && 'posts', comments && 'comments'].filter((kind) => kind !== false);
  if (kinds.length === 0) return 'neither posts nor comments, so it never matches';
  const communities = subreddits.length === 0 ? 'all communities' : oneOf(subreddits.map(community));
  const without = excludeSubreddits.length === 0 ? '' : ` but not in ${oneOf(excludeSubreddits.map(community))}`;
  return `${kinds.join(' and ')} in ${communities}${without}${nsfw ? '' : ', without those marked NSFW'}`;
}

const WHERE: Readonly<Record<SearchedText, string>> = {
  title: 'the title of a post',
  body: 'the text of a post or comment',
  post_title: "the title of a comment's post",
};

function where({ matchIn = [] }: RuleSettings): string {
  return matchIn.length === 0 ? '' : `, only in ${oneOf(matchIn.map((text) => WHERE[text]))}`;
}

function people({ authors = [], excludeAuthors = [] }: RuleSettings): string[] {
  return [
    ...(authors.length > 0 ? [`Only by ${oneOf(authors.map(account))}.`] : []),
    ...(excludeAuthors.length > 0 ? [`Not by ${oneOf(excludeAuthors.map(account))}.`] : []),
  ];
}

function languagesInWords(codes: readonly string[]): string[] {
  if (codes.length === 0) return [];
  const names = codes.filter((code) => code !== 'und').map(languageName);
  if (codes.includes('und')) names.push('a language that is not decided');
  return [`Only in ${oneOf(names)}.`];
}

/** The English name of a language; the code itself where there is none. */
function languageName(code: string): string {
  return LANGUAGE_NAMES.of(code) ?? code;
}

const community = (name: string): string => `r/${name}`;
const account = (name: string): string => `u/${name}`;

function termInWords(term: string | RuleTerm): string {
  const { text, prefix, caseSensitive, in: texts = [] } = typeof term === 'string' ? { text: term } : term;
  const kind = TERMS.kindOf(text, { prefix });
  const letters = caseSensitive === true ? ', with small and capital letters as written' : '';
  const limit = texts.length === 0 ? '' : ` (only in ${oneOf(texts.map((each) => WHERE[each]))})`;
  return `${KINDS[kind ?? 'symbols']} “${text}”${letters}${limit}`;
}

const KINDS: Readonly<Record<TermKind, string>> = {
  word: 'the whole word',
  prefix: 'a word that begins with',
  phrase: 'the whole words',
  punctuation: 'exactly',
  characters: 'the characters',
  symbols: 'the symbols',
};

function oneOf(alternatives: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(alternatives);
}
