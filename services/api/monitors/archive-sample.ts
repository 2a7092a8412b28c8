import { isArchiveUnavailable } from '../../../shared/clickhouse/clickhouse-unavailable.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ComparedTexts } from '../../../shared/monitors/rules/suggest.ts';
import type { MatchItem } from '../../../shared/matching/rule.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sharedResult } from '../../../shared/runtime/single-flight.ts';
import { sampleArchivedItems, sampleArchivedWords } from '../../../shared/archive/archived-words.ts';

/** The newest items of the archive; empty when they could not be read in time. Never rejects. */
export type ArchiveSample = () => Promise<readonly MatchItem[]>;

/** Shares of 500 items are exact to about three percent, and matching them takes a few milliseconds. */
const ITEMS = 500;
/** A rule's author waits no longer than this for the archive. */
const WAIT_MS = 300;
/** A read that takes longer than WAIT_MS still serves later requests, but frees its connection in the end. */
const READ_MS = 5_000;
const FRESH_MS = 60_000;

/** Reads the sample at most once a minute, for all requests of this process. */
export function createArchiveSample(clickhouse: ClickHouseClient, logger: Pick<Logger, 'warn'>): ArchiveSample {
  const sample = sharedResult(async () => {
    try {
      return await sampleArchivedItems(clickhouse, ITEMS, AbortSignal.timeout(READ_MS));
    } catch (error) {
      const isUnavailable = isArchiveUnavailable(error) || (error as Error).name === 'AbortError';
      if (!isUnavailable) logger.warn({ err: error }, 'the archive could not be sampled for the warnings about rules');
      throw error;
    }
  }, FRESH_MS);
  return async () => {
    try {
      return await withDeadline(sample(), WAIT_MS, 'the archive did not answer in time');
    } catch {
      return [];
    }
  };
}

/** The words of a sample of everything; undefined when the archive does not answer in time. Never rejects. */
export type StreamWords = () => Promise<ComparedTexts['stream'] | undefined>;

/** A word in a thousandth of all items is in five of the sample. */
const WORD_ITEMS = 5_000;
const WORDS_WAIT_MS = 2_000;

/** Reads the sample at most once a minute, for all requests of this process. */
export function createStreamWords(clickhouse: ClickHouseClient): StreamWords {
  const sample = sharedResult(async () => {
    const items = await sampleArchivedWords(clickhouse, WORD_ITEMS, AbortSignal.timeout(READ_MS));
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
      return await withDeadline(sample(), WORDS_WAIT_MS, 'the archive did not answer in time');
    } catch {
      return undefined;
    }
  };
}
