import type { ClickHouseClient } from '../../../../shared/clickhouse/clickhouse-client.ts';
import type { ComparedTexts } from '../../../../shared/domain/suggestions/suggest.ts';
import { withDeadline } from '../../../../shared/runtime/lifecycle.ts';
import { sharedResult } from '../../../../shared/runtime/single-flight.ts';
import { sampleArchivedWords } from '../../../../shared/stores/archive/archived-words.ts';

/** The words of a sample of everything; undefined when the archive does not answer in time. Never rejects. */
export type StreamWords = () => Promise<ComparedTexts['stream'] | undefined>;

/** A word in a thousandth of all items is in five of the sample. */
const ITEMS = 5_000;
const WAIT_MS = 2_000;
const READ_MS = 5_000;
const FRESH_MS = 60_000;

/** Reads the sample at most once a minute, for all requests of this process. */
export function createStreamWords(clickhouse: ClickHouseClient): StreamWords {
  const sample = sharedResult(async () => {
    const items = await sampleArchivedWords(clickhouse, ITEMS, AbortSignal.timeout(READ_MS));
    const counts = new Map<string, number>();
    const subreddits = new Map<string, number>();
    for (const { words, subreddit } of items) {
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
      subreddits.set(subreddit, (subreddits.get(subreddit) ?? 0) + 1);
    }
    return { texts: items.length, counts, subreddits };
  }, FRESH_MS);
  return async () => {
    try {
      return await withDeadline(sample(), WAIT_MS, 'the archive did not answer in time');
    } catch {
      return undefined;
    }
  };
}
