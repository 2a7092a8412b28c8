import type { PreviewSample } from '../../../../schemas/api/monitors/preview.ts';
import type { MonitorMatchResult } from '../../../../shared/matching/monitor-index.ts';
import type { ArchivedItem } from '../../../../shared/stores/archive/archived-item.ts';

/** What would have been a match, with the first place of each term. */
export function sampleResource(
  { content, firstSeenAt }: ArchivedItem,
  { matchedTerms, positions }: Pick<MonitorMatchResult, 'matchedTerms' | 'positions'>,
): PreviewSample {
  const { thing_id, kind, subreddit, author, title, body, permalink, post_id, created_utc } = content;
  return {
    ...{ thing_id, kind, subreddit, author, title, body, permalink, post_id, created_utc },
    first_seen_at: firstSeenAt,
    matched_terms: matchedTerms,
    highlights: positions.map(({ field, start, end }) => ({ field: field === 'text' ? 'body' : field, start, end })),
  };
}
