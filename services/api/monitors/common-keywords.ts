import { findCommonKeyword } from '../../../shared/matching/common-words.ts';

/** The settings that decide how much a monitor matches. */
export interface WatchedRule {
  keywords: readonly string[];
  subreddits: readonly string[];
}

/**
 * Warns about keywords that occur in nearly every conversation. Monitors limited to some communities get no warning.
 *
 * @param suppressedPerDay how many suppressed matches are stored per monitor and UTC day
 */
export function commonKeywordWarnings({ keywords, subreddits }: WatchedRule, suppressedPerDay: number): string[] {
  if (subreddits.length > 0) return [];
  const most = suppressedPerDay.toLocaleString('en');
  const consequence = `matches beyond the daily cap are suppressed, and at most ${most} of those a day are stored.`;
  return keywords.flatMap((keyword) => {
    const common = findCommonKeyword(keyword);
    if (common === undefined) return [];
    const finding =
      common.percent === undefined
        ? 'consists of very common words only'
        : `is in about ${common.percent} % of all items`;
    return [`"${keyword}" ${finding}: ${consequence}`];
  });
}

/** The `warnings` member of an answer; no member when there are no warnings. */
export function warningsMember(warnings: string[]): { warnings?: string[] } {
  return warnings.length === 0 ? {} : { warnings };
}
