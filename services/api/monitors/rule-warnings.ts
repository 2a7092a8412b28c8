import type { RuleWarning } from '../../../schemas/api/monitors.ts';
import { blockingFilter, filteredItem, filterOf } from '../../../shared/matching/item-filter.ts';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import { excludedKeywords, findCommonKeyword, TermSyntaxReader } from '../../../shared/matching/questionable-terms.ts';
import type { TermSyntax } from '../../../shared/matching/questionable-terms.ts';
import type { MatchItem, Rule, RuleTerm, SearchedText } from '../../../shared/matching/rule.ts';

/** What decides in this installation how much a keyword matches. */
export interface RuleSurroundings {
  /** The newest items of the archive; empty when it is not available. */
  sample: readonly MatchItem[];
  /** How many suppressed matches are stored per monitor and UTC day. */
  suppressedPerDay: number;
}

/** A share of fewer items says little. */
const MIN_ITEMS = 100;
/** A keyword in this share of the newest items is common. A topic of the day may be in fewer. */
const COMMON_SHARE = 0.1;
/** A word of the list of common words is not common here below this share; the list was measured at it. */
const RARE_SHARE = 0.02;

/** Points out what an accepted rule may not mean, or why it cannot match. Nothing is refused because of it. */
export function ruleWarnings(rule: Rule, surroundings: RuleSurroundings): RuleWarning[] {
  const syntax = new TermSyntaxReader();
  return [
    ...nothingWatched(rule),
    ...neverMatching(rule),
    ...unwatchedTexts(rule),
    ...syntaxWarnings(syntax, plainTerms('keywords', rule.keywords), OF_KEYWORDS),
    ...syntaxWarnings(syntax, plainTerms('exclude', rule.exclude)),
    ...syntaxWarnings(syntax, [...termsWithConditions(rule), ...requiredTerms(rule)], OF_TERMS),
    ...commonKeywords(rule, surroundings),
  ];
}

/** A term, and where a client finds it in the monitor of the response. */
interface NamedTerm {
  field: string;
  term: RuleTerm;
}

function plainTerms(list: string, texts: readonly string[]): NamedTerm[] {
  return texts.map((text, position) => ({ field: `${list}[${position}]`, term: { text } }));
}

function termsWithConditions({ terms = [] }: Rule): NamedTerm[] {
  return terms.map((term, position) => ({ field: `terms[${position}].text`, term }));
}

function requiredTerms({ require = [] }: Rule): NamedTerm[] {
  return require.flatMap((group, number) =>
    group.map((term, position): NamedTerm => {
      const field = `require[${number}][${position}]`;
      return typeof term === 'string' ? { field, term: { text: term } } : { field: `${field}.text`, term };
    }),
  );
}

/** The terms of which an item needs one. */
function alternatives(rule: Rule): NamedTerm[] {
  return [...plainTerms('keywords', rule.keywords), ...termsWithConditions(rule)];
}

/** The `warnings` member of a response; no member when there are no warnings. */
export function warningsMember(warnings: RuleWarning[]): { warnings?: RuleWarning[] } {
  return warnings.length === 0 ? {} : { warnings };
}

function nothingWatched({ posts, comments }: Rule): RuleWarning[] {
  if (posts || comments) return [];
  const message = 'The monitor watches neither posts nor comments, so it never matches.';
  return [{ field: 'posts', code: 'nothing_watched', message }];
}

function neverMatching(rule: Rule): RuleWarning[] {
  // Longer words that begin with an excluded word do not contain it.
  const whole = alternatives(rule).filter(({ term }) => term.prefix !== true);
  const keywords = whole.map(({ term }) => term.text);
  return excludedKeywords({ keywords, exclude: rule.exclude }).map(({ position, excludedBy }) => ({
    field: whole[position]!.field,
    code: 'keyword_excluded',
    message: `"${keywords[position] ?? ''}" never matches: every text that contains it contains the excluded term "${excludedBy}".`,
  }));
}

/** Terms that count only in texts that the watched kinds do not have. */
function unwatchedTexts(rule: Rule): RuleWarning[] {
  const { posts, comments, matchIn = ['title', 'body'] } = rule;
  if (!posts && !comments) return [];
  const watched: SearchedText[] = ['body', ...(posts ? ['title' as const] : ['post_title' as const])];
  if (posts && comments) watched.push('post_title');
  return [...alternatives(rule), ...requiredTerms(rule)].flatMap(({ field, term }): RuleWarning[] => {
    const texts = term.in ?? matchIn;
    if (texts.some((text) => watched.includes(text))) return [];
    const message = `"${term.text}" never matches: it counts only in ${texts.join(', ')}, which ${posts ? 'posts' : 'comments'} do not have.`;
    return [{ field, code: 'text_not_watched', message }];
  });
}

function syntaxWarnings(
  reader: TermSyntaxReader,
  terms: readonly NamedTerm[],
  syntax: Partial<typeof SYNTAX> = SYNTAX,
): RuleWarning[] {
  return terms.flatMap(({ field, term }) =>
    reader.find(term.text).map((found): RuleWarning => {
      const { code, explain } = syntax[found.kind] ?? SYNTAX[found.kind];
      return { field, code, message: explain(term.text, found.written) };
    }),
  );
}

/** Where a rule says what an operator would. */
const INSTEAD_OF: Partial<Record<string, string>> = {
  NOT: 'Put terms to leave out in "exclude".',
  AND: 'Put terms that must also occur in "require".',
};

/** As in excluded terms. */
const SYNTAX: Record<
  TermSyntax['kind'],
  { code: RuleWarning['code']; explain: (term: string, written: string) => string }
> = {
  operator: {
    code: 'search_operator',
    explain: (term, operator) =>
      `"${term}" matches only text that contains exactly these words, "${operator}" included: terms have no operators. ` +
      (INSTEAD_OF[operator] ?? 'Send alternatives as separate terms: any one of them is enough.'),
  },
  field: {
    code: 'field_prefix',
    explain: (term, field) =>
      `"${term}" matches only text that contains "${field}:" as well: excluded terms have no field prefixes; they apply to all texts.`,
  },
  wildcard: {
    code: 'wildcard',
    explain: (term) =>
      `"${term}" matches only text that contains the asterisk: excluded terms have no wildcards. Send each form of the word as a separate term.`,
  },
  quotes: {
    code: 'quotes_ignored',
    explain: (_term, phrase) =>
      `The quotes have no effect: ${phrase} always matches as a phrase, with or without quotes in the text.`,
  },
};

/** Where `terms` can say what keywords cannot. */
const OF_KEYWORDS: Partial<typeof SYNTAX> = {
  field: {
    code: 'field_prefix',
    explain: (term, field) =>
      `"${term}" matches only text that contains "${field}:" as well: keywords have no field prefixes. Send it in "terms", and say where it counts with "in".`,
  },
  wildcard: {
    code: 'wildcard',
    explain: (term) =>
      `"${term}" matches only text that contains the asterisk: keywords have no wildcards. To match all words that begin this way, send it in "terms" without the asterisk and with "prefix": true.`,
  },
};

/** Where terms have other conditions than keywords. */
const OF_TERMS: Partial<typeof SYNTAX> = {
  field: {
    code: 'field_prefix',
    explain: (term, field) =>
      `"${term}" matches only text that contains "${field}:" as well. Say where a term counts with "in".`,
  },
  wildcard: {
    code: 'wildcard',
    explain: (term) =>
      `"${term}" matches only text that contains the asterisk. To match all words that begin this way, send the word without the asterisk and with "prefix": true.`,
  },
};

function commonKeywords(rule: Rule, { sample, suppressedPerDay }: RuleSurroundings): RuleWarning[] {
  if (rule.subreddits.length > 0 || (!rule.posts && !rule.comments)) return [];
  // With other requirements, the share of the keyword says little.
  if (rule.require !== undefined || rule.authors !== undefined) return [];
  const counted = alternatives(rule);
  const { items, found } = countInSample(rule, sample, counted);
  const most = suppressedPerDay.toLocaleString('en');
  return counted.flatMap(({ field, term }): RuleWarning[] => {
    const { text } = term;
    // The list counted words in any case and anywhere.
    const isListed = term.caseSensitive !== true && term.in === undefined && rule.matchIn === undefined;
    const listed = isListed ? listedFinding(text) : undefined;
    const finding = items < MIN_ITEMS ? listed : measuredFinding(text, (found.get(field) ?? 0) / items, items);
    if (finding === undefined) return [];
    const message = `"${text}" ${finding}: matches beyond the daily cap are not sent, and at most ${most} of those a day are stored.`;
    return [{ field, code: 'common_word', message }];
  });
}

/**
 * How many items the rule looks at, and how many of them each alternative matches, by its field, whatever terms are
 * excluded.
 */
function countInSample(
  { terms: _terms, ...rule }: Rule,
  sample: readonly MatchItem[],
  counted: readonly NamedTerm[],
): { items: number; found: Map<string, number> } {
  const filter = filterOf(rule);
  const index = new MonitorIndex();
  for (const { field, term } of counted) index.set(field, { ...rule, keywords: [], terms: [term], exclude: [] });
  const watched = sample.filter((item) => blockingFilter(filter, filteredItem(item)) === undefined);
  const found = new Map<string, number>();
  for (const item of watched) {
    for (const { monitorId: field } of index.match(item)) found.set(field, (found.get(field) ?? 0) + 1);
  }
  return { items: watched.length, found };
}

/** undefined: not common. */
function measuredFinding(keyword: string, share: number, items: number): string | undefined {
  if (share < (findCommonKeyword(keyword) === undefined ? COMMON_SHARE : RARE_SHARE)) return undefined;
  return `is in about ${Math.round(100 * share)} % of the latest ${items} items in the archive`;
}

/** By the list of common words alone. */
function listedFinding(keyword: string): string | undefined {
  const common = findCommonKeyword(keyword);
  if (common === undefined) return undefined;
  return common.percent === undefined
    ? 'consists of very common words only'
    : `is in about ${common.percent} % of all items`;
}
