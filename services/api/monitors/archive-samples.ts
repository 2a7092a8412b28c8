import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { isNews } from '../../../shared/matches/rules/match-decision.ts';
import { MonitorIndex } from '../../../shared/matching/monitor-index.ts';
import type { MonitorMatchResult } from '../../../shared/matching/monitor-index.ts';
import type { Rule } from '../../../shared/matching/rule.ts';
import { CooperativeYield } from '../../../shared/runtime/clock.ts';
import { MOST_CANDIDATES, readArchivedCandidates } from '../../../shared/archive/archived-candidates.ts';
import type { ArchivePosition, CandidatePage } from '../../../shared/archive/archived-candidates.ts';
import { matchItemOf } from '../../../shared/archive/archived-item.ts';
import type { ArchivedItem } from '../../../shared/archive/archived-item.ts';
import { sampleArchivedItems, sampleArchivedWords } from '../../../shared/archive/archived-words.ts';
import { isArchiveUnavailable } from '../../../shared/clickhouse/clickhouse-unavailable.ts';
import type { MatchItem } from '../../../shared/matching/rule.ts';
import type { ComparedTexts } from '../../../shared/monitors/rules/suggest.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sharedResult } from '../../../shared/runtime/single-flight.ts';
import { ApiError, engineUnavailable } from '../http/api-error.ts';

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

export interface ArchiveScan {
  clickhouse: ClickHouseClient;
  /** The rules that are compared, by name. */
  rules: Readonly<Record<string, Rule>>;
  from: Date;
  to: Date;
  /** Aborts when the client disconnects. */
  disconnected: AbortSignal | undefined;
  /** Aborts when the time is up. */
  deadline: AbortSignal;
}

export interface ScanExtent {
  /** Every match that was seen at or after this moment has been visited. */
  exactFrom: Date;
  /** Items read so far. */
  candidates: number;
  done: boolean;
}

/** Called for each item that a rule matches, newest first. */
export type VisitMatch = (item: ArchivedItem, matches: readonly MonitorMatchResult[]) => void;

/** The first page is small, so that progress is seen and rare words are answered soon. */
const FIRST_PAGE = 500;
/** Shared, so that no two scans hold the event loop one after the other. */
const cooperativeYield = new CooperativeYield();

/**
 * Matches the archive with rules, newest first, page by page; yields its extent after each page. The last one is
 * `done` unless the time is up. Items that were old when first seen are left out, as the recorder refuses them.
 *
 * @throws the engine's error when it is unavailable; ClientDisconnected
 */
export async function* scanArchive(scan: ArchiveScan, visit: VisitMatch): AsyncGenerator<ScanExtent> {
  const { deadline } = scan;
  const signal = scan.disconnected === undefined ? deadline : AbortSignal.any([scan.disconnected, deadline]);
  const index = new MonitorIndex();
  for (const [name, rule] of Object.entries(scan.rules)) index.set(name, rule);
  const extent = { exactFrom: scan.to, candidates: 0, done: false };
  let page: CandidatePage | undefined;
  do {
    const next = await readPage(scan, page, signal);
    if (next === undefined) return;
    page = next;
    for (const item of page.items) {
      await cooperativeYield.pause();
      visitItem(index, item, visit);
    }
    scan.disconnected?.throwIfAborted();
    extent.candidates += page.items.length;
    extent.done = page.next === undefined;
    extent.exactFrom = page.next === undefined ? scan.from : startOf(page.next);
    yield { ...extent };
  } while (!extent.done && !deadline.aborted);
}

/** The next page; undefined when the time is up. */
async function readPage(
  { clickhouse, rules, from, to, disconnected }: ArchiveScan,
  previous: CandidatePage | undefined,
  signal: AbortSignal,
): Promise<CandidatePage | undefined> {
  const [rule, ...others] = Object.values(rules);
  if (rule === undefined) throw new Error('a scan needs a rule');
  const limit = previous === undefined ? FIRST_PAGE : MOST_CANDIDATES;
  const { next: after, windowMs } = previous ?? {};
  try {
    return await readArchivedCandidates(clickhouse, {
      ...{ rule, others, from, to, order: 'newest', after, windowMs, limit, signal },
    });
  } catch (error) {
    disconnected?.throwIfAborted();
    // Without a single page, the engine did not answer at all.
    if (signal.aborted && previous !== undefined) return undefined;
    throw signal.aborted ? archiveBusy() : error;
  }
}

function archiveBusy(): ApiError {
  return engineUnavailable('The archive did not respond in time. Try again shortly. Nothing was charged.');
}

/** The moment from which everything before a position, newest first, has been read. */
function startOf({ firstSeenAt, thingId }: ArchivePosition): Date {
  // Other items of the same millisecond may follow, unless the page ended between two milliseconds.
  return new Date(Date.parse(firstSeenAt) + (thingId === '' ? 0 : 1));
}

function visitItem(index: MonitorIndex, item: ArchivedItem, visit: VisitMatch): void {
  const matches = index.match(matchItemOf(item));
  if (matches.length === 0) return;
  const facts = {
    createdUtcMs: Date.parse(item.content.created_utc),
    enteredAtMs: Date.parse(item.firstSeenAt),
    replay: item.source === 'replay',
  };
  if (isNews(facts)) visit(item, matches);
}
