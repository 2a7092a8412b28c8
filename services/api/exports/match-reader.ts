import type { Pool } from '../../../shared/postgres/pool.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import type { SeqRange } from '../../../shared/stores/matches/filtered-matches.ts';
import { readLiveTailPage } from '../../../shared/stores/matches/live-tails.ts';
import type { LiveTailHolder } from '../../../shared/stores/matches/live-tails.ts';
import { ClientGone } from '../http/api-error.ts';

/** Matches per statement. A body has at most 40,000 characters, so the largest batch is about 10 MB. */
const BATCH = 200;

/**
 * The stored matches of a range, in the order of their seqs, in short statements as they are asked for. Each of them
 * checks that the holder still has access.
 *
 * @throws ClientGone when it has not
 */
export async function* readMatchesOf(
  pool: Pool,
  { holder, monitorId }: { holder: LiveTailHolder; monitorId: string },
  range: SeqRange | undefined,
): AsyncGenerator<StoredMatch[]> {
  if (range === undefined) return;
  let last = range.first - 1;
  while (last < range.end - 1) {
    const page = await readLiveTailPage(pool, { holder, monitorId, afterSeq: last, limit: BATCH });
    if (page.end !== undefined) throw new ClientGone();
    const found = page.matches;
    const within = found.filter(({ seq }) => seq < range.end);
    if (within.length > 0) yield within;
    if (found.length < BATCH) return;
    last = found.at(-1)!.seq;
  }
}
