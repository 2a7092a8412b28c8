import type { Candidate } from '../../schemas/candidate.ts';
import type { ItemContent } from '../../schemas/forum-item.ts';
import type { RecordedMatch } from '../../schemas/recorded-match.ts';
import { matchId } from '../../shared/domain/identifiers.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { StoredMatch } from '../../shared/stores/recording-matches.ts';
import { keepContents } from './keep-contents.ts';
import { recordPairs } from './record-pairs.ts';
import type { OutcomeCounts } from './record-pairs.ts';

export interface RecordBatchDeps {
  pool: Pool;
  /** How far the broker's clock and Postgres's may differ, in ms: 0 on one machine. */
  toleranceMs: number;
}

export interface RecordedBatch {
  /** What is to be published: the matches of this batch, whether they were stored now or before; by monitor and seq. */
  matches: RecordedMatch[];
  outcomes: OutcomeCounts;
}

/**
 * Turns a batch of candidates into numbered, stored matches. Repeating a batch stores nothing new and returns the same matches.
 *
 * 1. Contents, each statement by itself. A crash after it leaves content without a match, which expires; a repeat finds it.
 * 2. One transaction: locks, checks, numbers, matches. A crash inside leaves nothing of it; the repeat does it all again.
 * (3. The caller publishes, 4. and commits the offsets: a crash before either repeats from 1, where every pair is found stored
 * and is published again as it was, whatever became of its monitor since.)
 */
export async function recordBatch(deps: RecordBatchDeps, candidates: readonly Candidate[]): Promise<RecordedBatch> {
  const contents = await keepContents(deps.pool, candidates);
  const { matches, outcomes } = await inTransaction(deps.pool, (client) =>
    recordPairs(client, candidates, deps.toleranceMs),
  );
  return { matches: matches.map((match) => toRecordedMatch(match, contents)), outcomes };
}

function toRecordedMatch(match: StoredMatch, contents: ReadonlyMap<string, ItemContent>): RecordedMatch {
  const item = contents.get(match.thingId);
  if (!item) throw new Error(`the content of ${match.thingId} is gone right after it was kept`);
  return {
    v: 1,
    match_id: matchId(match.monitorId, match.seq),
    monitor_id: match.monitorId,
    seq: match.seq,
    matched_terms: match.matchedTerms,
    suppressed: match.suppressed,
    first_delivery: match.firstDelivery,
    entered_at: match.enteredAt,
    created_at: match.createdAt,
    first_seen_at: match.firstSeenAt,
    item,
  };
}
