import type { RuleWarning } from '../../../schemas/api/monitor.ts';
import { findCommonKeyword } from '../../../shared/matching/common-words.ts';
import { blockingFilter, filteredItem, filterOf } from '../../../shared/matching/item-filter.ts';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import { excludedKeywords } from '../../../shared/matching/never-matching.ts';
import type { MatchItem, Rule } from '../../../shared/matching/rule.ts';
import { TermSyntaxReader } from '../../../shared/matching/term-syntax.ts';
import type { TermSyntax } from '../../../shared/matching/term-syntax.ts';

/** What is known of the installation that decides how much a keyword matches. */
export interface RuleSurroundings {
  /** The newest items of the archive; empty when it is not available. */
  sample: readonly MatchItem[];
  /** How many suppressed matches are stored per monitor and UTC day. */
  suppressedPerDay: number;
}

/** A share of fewer items says little. */
const LEAST_ITEMS = 100;
/** A keyword in this share of the newest items is common. A topic of the day may be in less and be gone tomorrow. */
const COMMON_SHARE = 0.1;
/** A word of the list of common words is not common here below this share; the list was measured at it. */
const RARE_SHARE = 0.02;

/** Points out what an accepted rule may not mean, or why it cannot match. Nothing is refused because of it. */
export function ruleWarnings(rule: Rule, surroundings: RuleSurroundings): RuleWarning[] {
  const syntax = new TermSyntaxReader();
  return [
    ...nothingWatched(rule),
    ...neverMatching(rule),
    ...(['keywords', 'exclude'] as const).flatMap((list) => syntaxWarnings(syntax, list, rule[list])),
    ...commonKeywords(rule, surroundings),
  ];
}

/** The `warnings` member of an answer; no member when there are no warnings. */
export function warningsMember(warnings: RuleWarning[]): { warnings?: RuleWarning[] } {
  return warnings.length === 0 ? {} : { warnings };
}

function nothingWatched({ posts, comments }: Rule): RuleWarning[] {
  if (posts || comments) return [];
  const message = 'The monitor watches neither posts nor comments, so it never matches.';
  return [{ field: 'posts', code: 'nothing_watched', message }];
}

function neverMatching(rule: Rule): RuleWarning[] {
  return excludedKeywords(rule).map(({ position, excludedBy }) => ({
    field: `keywords[${position}]`,
    code: 'keyword_excluded',
    message: `"${rule.keywords[position] ?? ''}" never matches: every text that contains it contains the excluded term "${excludedBy}".`,
  }));
}

function syntaxWarnings(
  reader: TermSyntaxReader,
  list: 'keywords' | 'exclude',
  terms: readonly string[],
): RuleWarning[] {
  return terms.flatMap((term, position) =>
    reader.find(term).map((found): RuleWarning => {
      const { code, explain } = SYNTAX[found.kind];
      return { field: `${list}[${position}]`, code, message: explain(term, found.written) };
    }),
  );
}

const SYNTAX: Record<
  TermSyntax['kind'],
  { code: RuleWarning['code']; explain: (term: string, written: string) => string }
> = {
  operator: {
    code: 'search_operator',
    explain: (term, operator) =>
      `"${term}" matches only text with all of it in this order, "${operator}" included: there are no operators. ` +
      (operator === 'NOT'
        ? 'What must not occur belongs into "exclude".'
        : 'Each term of the list counts by itself: send alternatives as separate terms.'),
  },
  field: {
    code: 'field_prefix',
    explain: (term, field) =>
      `"${term}" matches only text that contains it with "${field}:": there are no prefixes for fields. ` +
      'Posts are searched in title and text, comments in their text.',
  },
  wildcard: {
    code: 'wildcard',
    explain: (term) =>
      `"${term}" matches only text with the asterisk: there are no wildcards. Send each form of the word as a separate term.`,
  },
  quotes: {
    code: 'quotes_ignored',
    explain: (_term, phrase) =>
      `The quotes are ignored: ${phrase} matches as a phrase in any case, with quotes around it in the text or without.`,
  },
};

function commonKeywords(rule: Rule, { sample, suppressedPerDay }: RuleSurroundings): RuleWarning[] {
  if (rule.subreddits.length > 0 || (!rule.posts && !rule.comments)) return [];
  const { items, found } = countInSample(rule, sample);
  const most = suppressedPerDay.toLocaleString('en');
  return rule.keywords.flatMap((keyword, position): RuleWarning[] => {
    const finding =
      items < LEAST_ITEMS ? listedFinding(keyword) : measuredFinding(keyword, (found.get(keyword) ?? 0) / items, items);
    if (finding === undefined) return [];
    const message = `"${keyword}" ${finding}: matches beyond the daily cap are suppressed, and at most ${most} of those a day are stored.`;
    return [{ field: `keywords[${position}]`, code: 'common_word', message }];
  });
}

/** How many items the rule looks at, and how many of them each keyword matches, whatever is excluded. */
function countInSample(rule: Rule, sample: readonly MatchItem[]): { items: number; found: Map<string, number> } {
  const filter = filterOf(rule);
  const index = new MonitorIndex();
  index.set('rule', { ...rule, exclude: [] });
  const watched = sample.filter((item) => blockingFilter(filter, filteredItem(item)) === undefined);
  const found = new Map<string, number>();
  for (const item of watched) {
    for (const term of index.match(item)[0]?.matchedTerms ?? []) found.set(term, (found.get(term) ?? 0) + 1);
  }
  return { items: watched.length, found };
}

/** undefined: not common. */
function measuredFinding(keyword: string, share: number, items: number): string | undefined {
  if (share < (findCommonKeyword(keyword) === undefined ? COMMON_SHARE : RARE_SHARE)) return undefined;
  return `is in about ${Math.round(100 * share)} % of the ${items} items that the archive got last`;
}

/** By the list of common words alone. */
function listedFinding(keyword: string): string | undefined {
  const common = findCommonKeyword(keyword);
  if (common === undefined) return undefined;
  return common.percent === undefined
    ? 'consists of very common words only'
    : `is in about ${common.percent} % of all items`;
}
