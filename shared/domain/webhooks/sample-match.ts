import type { MonitorMatch } from '../../../schemas/messages/monitor-match.ts';
import { randomText } from '../identifiers.ts';

/**
 * A made-up match for trying out a webhook: a comment that contains the monitor's first keyword.
 *
 * @param now milliseconds since the epoch
 */
export function sampleMatch(
  { monitorId, keyword }: { monitorId: string; keyword: string },
  { siteUrl, now }: { siteUrl: string; now: number },
): MonitorMatch {
  const time = new Date(now).toISOString();
  return {
    id: `test_${randomText(12)}`,
    monitor_id: monitorId,
    thing_id: 't1_sample',
    kind: 'comment',
    subreddit: 'test',
    author: 'sample_author',
    title: 'A sample post',
    body: `This is a sample match, sent to try a webhook out. It holds the keyword ${keyword}.`,
    permalink: `${siteUrl}/r/test/comments/sample/a_sample_post/sample/`,
    post_id: 'sample',
    created_utc: time,
    matched_terms: [keyword],
    suppressed: false,
    delivery_status: 'pending',
    created_at: time,
    delivered_at: null,
  };
}
