import type { Pool } from '../../../shared/postgres/pool.ts';
import type { StoredMatch } from '../../../shared/domain/match-resource.ts';
import type { SeqRange } from '../../../shared/stores/matches/filtered-matches.ts';
import { readMatchesAfter } from '../../../shared/stores/matches/match-pages.ts';

/** Matches per statement. A body has at most 40,000 characters, so the largest batch is about 10 MB. */
const BATCH = 200;

/** The stored matches of a range, in the order of their seqs, in short statements as they are asked for. */
export async function* readMatchesOf(
  pool: Pool,
  monitorId: string,
  range: SeqRange | undefined,
): AsyncGenerator<StoredMatch[]> {
  if (range === undefined) return;
  let last = range.first - 1;
  while (last < range.end - 1) {
    const found = await readMatchesAfter(pool, monitorId, last, BATCH);
    const within = found.filter(({ seq }) => seq < range.end);
    if (within.length > 0) yield within;
    if (found.length < BATCH) return;
    last = found.at(-1)!.seq;
  }
}
