import type { RecordedMatch } from '../../../schemas/messages/recorded-match.ts';
import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import type { Publisher } from '../../../shared/kafka/publisher.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import type { ClaimedBackfill } from '../../../shared/stores/backfills/backfill-claims.ts';
import { readBackfilledMatches } from '../../../shared/stores/matches/recording-matches.ts';
import { recordedMatchOf } from '../../../shared/stores/matches/recorded-match-of.ts';
import { readStoredContents } from '../store-contents.ts';
import { CHUNK } from './record-chunk.ts';

/** Publishes matches to monitor.matches. @throws PublishFailed */
export function publishMatches(publisher: Publisher, matches: readonly RecordedMatch[]): Promise<void> {
  const records = matches.map((match) => ({ key: match.monitor_id, value: JSON.stringify(match) }));
  return publisher.publish(MONITOR_MATCHES.name, records);
}

/**
 * Publishes the matches of a run that were committed and perhaps not published, because a process died or the broker
 * was away in between. A repeat is harmless.
 *
 * @returns the run with all its matches published
 * @throws PublishFailed
 */
export async function publishRest(
  { pool, publisher }: { pool: Pool; publisher: Publisher },
  run: ClaimedBackfill,
): Promise<ClaimedBackfill> {
  const { monitorId, firstSeq, lastSeq } = run;
  if (firstSeq === undefined || lastSeq === undefined) return run;
  let after = run.publishedSeq ?? firstSeq - 1;
  while (after < lastSeq) {
    const matches = await readBackfilledMatches(pool, monitorId, { after, last: lastSeq }, CHUNK);
    if (matches.length === 0) break;
    const contents = await readStoredContents(
      pool,
      matches.map(({ thingId }) => thingId),
    );
    await publishMatches(
      publisher,
      matches.map((match) => recordedMatchOf(match, contents)),
    );
    after = matches.at(-1)!.seq;
  }
  return { ...run, publishedSeq: lastSeq };
}
