import { findCommonKeyword } from '../../../shared/matching/common-words.ts';

/** What decides how much a monitor matches. */
export interface WatchedRule {
  keywords: readonly string[];
  subreddits: readonly string[];
}

/**
 * Points out keywords that nearly every conversation holds. Says nothing of monitors that watch some communities only.
 *
 * @param suppressedPerDay suppressed matches that a monitor may store a UTC day
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

/** As a member of an answer, which has none when there is nothing to say. */
export function warningsMember(warnings: string[]): { warnings?: string[] } {
  return warnings.length === 0 ? {} : { warnings };
}
