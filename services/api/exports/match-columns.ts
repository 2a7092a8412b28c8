import { matchId } from '../../../shared/domain/identifiers.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import type { ParquetColumn } from '../../../shared/parquet/parquet-column.ts';

/** The fields of a match as columns of a Parquet file. */
export function matchColumns(monitorId: string): ParquetColumn<StoredMatch>[] {
  return [
    { name: 'id', type: 'text', of: (match) => matchId(monitorId, match.seq) },
    { name: 'monitor_id', type: 'text', of: () => monitorId },
    { name: 'created_at', type: 'time', of: (match) => match.createdAt },
    { name: 'kind', type: 'text', of: (match) => match.kind },
    { name: 'subreddit', type: 'text', of: (match) => match.subreddit },
    { name: 'author', type: 'text', of: (match) => match.author },
    { name: 'title', type: 'text', of: (match) => match.title },
    { name: 'body', type: 'text', of: (match) => match.body },
    { name: 'permalink', type: 'text', of: (match) => match.permalink },
    { name: 'matched_terms', type: 'list of texts', of: (match) => match.matchedTerms },
    { name: 'thing_id', type: 'text', of: (match) => match.thingId },
    { name: 'post_id', type: 'text', of: (match) => match.postId },
    { name: 'created_utc', type: 'time', of: (match) => match.createdUtc },
    { name: 'suppressed', type: 'boolean', of: (match) => match.suppressed },
    { name: 'suppressed_reason', type: 'optional text', of: (match) => match.suppressedReason },
    { name: 'backfill', type: 'boolean', of: (match) => match.backfill },
    { name: 'delivery_status', type: 'text', of: (match) => match.deliveryStatus },
    { name: 'delivered_at', type: 'optional time', of: (match) => match.deliveredAt },
  ];
}
