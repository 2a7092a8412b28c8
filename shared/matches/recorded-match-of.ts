import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { RecordedMatch } from '../../schemas/messages/recorded-match.ts';
import { matchId } from '../rules/identifiers.ts';
import type { FirstStoredMatch } from './recording-matches.ts';

/** The message of a stored match. @throws Error when its content is not among `contents` */
export function recordedMatchOf(match: FirstStoredMatch, contents: ReadonlyMap<string, ItemContent>): RecordedMatch {
  const item = contents.get(match.thingId);
  if (!item) throw new Error(`the content of ${match.thingId} is missing right after it was stored`);
  return {
    v: 1,
    match_id: matchId(match.monitorId, match.seq),
    monitor_id: match.monitorId,
    seq: match.seq,
    matched_terms: match.matchedTerms,
    suppressed: match.suppressed,
    ...(match.suppressedReason ? { suppressed_reason: match.suppressedReason } : {}),
    ...(match.backfill ? { backfill: true } : {}),
    first_delivery: match.firstDelivery,
    entered_at: match.enteredAt,
    created_at: match.createdAt,
    first_seen_at: match.firstSeenAt,
    item,
  };
}
