import { MonitorIndex } from './monitor-index.ts';
import type { Rule } from './rule.ts';

const ANYWHERE = { subreddits: [], posts: true, comments: true, nsfw: true } as const;

/** A keyword by which no item can match, because each text that has it has an excluded term too. */
export interface ExcludedKeyword {
  position: number;
  /** The first such excluded term, as written. */
  excludedBy: string;
}

/**
 * Finds excluded terms in the keywords themselves, by the rules of matching. A keyword with spaces is tried with
 * hyphens too where it matches with them: an excluded term that occurs only between spaces leaves those texts.
 */
export function excludedKeywords({ keywords, exclude }: Pick<Rule, 'keywords' | 'exclude'>): ExcludedKeyword[] {
  if (exclude.length === 0) return [];
  const index = new MonitorIndex();
  index.set('excluded', { ...ANYWHERE, keywords: exclude, exclude: [] });
  return keywords.flatMap((keyword, position) => {
    index.set('keyword', { ...ANYWHERE, keywords: [keyword], exclude: [] });
    const [plain, hyphenated] = [keyword, keyword.replace(/(?<=\S)\s+(?=\S)/g, '-')].map((text) =>
      termsIn(index, text),
    );
    const found = plain?.get('excluded') ?? [];
    const always = hyphenated?.has('keyword') === true ? hyphenated.get('excluded') : found;
    const excludedBy = found.find((term) => always?.includes(term));
    return excludedBy === undefined ? [] : [{ position, excludedBy }];
  });
}

function termsIn(index: MonitorIndex, text: string): Map<string, string[]> {
  const item = { kind: 'comment', title: '', text, subreddit: '', nsfw: false } as const;
  return new Map(index.match(item).map(({ monitorId, matchedTerms }) => [monitorId, matchedTerms]));
}
