import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { Candidate, RecordedMatch } from '../../schemas/messages/monitor-match.ts';
import { dailyMatchCap } from '../../shared/billing/rules/plans.ts';
import {
  findKnownItems,
  findSuppressedMonitors,
  overwriteItems,
  readItems,
  recordedMatchOf,
  storeItems,
} from '../../shared/matches/recording.ts';
import type { FirstStoredMatch, SuppressedMonitor } from '../../shared/matches/recording.ts';
import { SUPPRESSED_PER_DAY } from '../../shared/matches/rules/match-decision.ts';
import { blankedContent } from '../../shared/matches/rules/match-resource.ts';
import { inTransaction } from '../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../shared/postgres/pool.ts';
import { storableText } from '../../shared/postgres/sql.ts';
import { readThreads, recordUnderLock } from './record-under-lock.ts';
import type { OutcomeCounts } from './record-under-lock.ts';

export interface RecordBatchDeps {
  /** Needs a free connection for each concurrent partition. */
  pool: Pool;
  /** How far the broker's clock and Postgres's may differ, in ms: 0 on one machine. */
  toleranceMs: number;
  /** Maximum suppressed matches that one monitor stores per UTC day; default 10,000. */
  suppressedPerDay?: number;
}

export interface RecordedBatch {
  /** Matches to publish, sorted by monitor and seq: those stored now and those of pairs that were stored before. */
  matches: RecordedMatch[];
  outcomes: OutcomeCounts;
}

/**
 * Turns a batch of candidates into numbered, stored matches. Repeating a batch stores nothing new and returns the same
 * matches.
 *
 * Before: the matcher published the candidates, and `startRecorder` consumed them. Steps:
 * 1. Store the contents (`storeContents`), one commit per statement. A crash after it leaves content without a match,
 *    which expires; a repeat finds it. Candidates that cannot become matches today because of the limits are left out.
 * 2. Lock, check, number and insert the matches in one transaction (`recordUnderLock`). A crash inside rolls it back
 *    and the repeat does it again. After: the caller (3) publishes the matches to monitor.matches and (4) commits the
 *    offsets. A crash before either repeats from 1, where every pair is found and is published again as first stored,
 *    whatever its monitor's state.
 */
export async function recordBatch(options: RecordBatchDeps, candidates: readonly Candidate[]): Promise<RecordedBatch> {
  const deps = { suppressedPerDay: SUPPRESSED_PER_DAY, ...options };
  const unstorable = await findUnstorable(deps, candidates);
  const recorded = await tryRecording(deps, candidates, unstorable);
  // A monitor had no room before the transaction but has inside it (a new day, a larger pack): repeat with all
  // contents.
  return recorded ?? (await tryRecording(deps, candidates, new Set()))!;
}

/**
 * Finds the candidates that cannot be stored today, because their monitor has reached the ceiling of suppressed matches
 * and the daily cap, or the ceiling while their thread had its match. Reads without locks, so `recordUnderLock` decides
 * again.
 */
async function findUnstorable(
  deps: Required<RecordBatchDeps>,
  candidates: readonly Candidate[],
): Promise<Set<Candidate>> {
  const monitorIds = [...new Set(candidates.map((candidate) => candidate.monitor_id))];
  const suppressed = await findSuppressedMonitors(deps.pool, monitorIds, deps.suppressedPerDay);
  if (suppressed.length === 0) return new Set();
  const isFull = ({ matchesOfDay, pack }: SuppressedMonitor) => matchesOfDay >= dailyMatchCap(pack);
  const full = new Set(suppressed.filter(isFull).map(({ monitorId }) => monitorId));
  const dayOf = new Map(
    suppressed.flatMap((monitor) => (monitor.threadOnce && !isFull(monitor) ? [[monitor.monitorId, monitor.day]] : [])),
  );
  const threads = await readThreads(
    deps.pool,
    candidates.filter(({ monitor_id }) => dayOf.has(monitor_id)),
    (monitorId) => dayOf.get(monitorId)!,
  );
  return new Set(
    candidates.filter(({ monitor_id, item }) => full.has(monitor_id) || threads.get(monitor_id)?.has(item.post_id)),
  );
}

/**
 * Runs steps 1 and 2 without storing the contents of the `unstorable` candidates.
 *
 * @returns undefined when the transaction was rolled back because it would have stored a match of one of them
 */
async function tryRecording(
  deps: Required<RecordBatchDeps>,
  candidates: readonly Candidate[],
  unstorable: ReadonlySet<Candidate>,
): Promise<RecordedBatch | undefined> {
  const contents = await storeContents(
    deps.pool,
    candidates.filter((candidate) => !unstorable.has(candidate)),
  );
  try {
    const { matches, repeated, outcomes } = await inTransaction(deps.pool, async (client) => {
      const pairs = await recordUnderLock(client, candidates, deps);
      if (!pairs.matches.every(({ thingId }) => contents.has(thingId))) throw new ContentNotStored();
      return pairs;
    });
    const unread = repeated.map(({ thingId }) => thingId).filter((thingId) => !contents.has(thingId));
    if (unread.length > 0) for (const [id, item] of await readStoredContents(deps.pool, unread)) contents.set(id, item);
    const all = [...repeated, ...matches].sort(byMonitorAndSeq);
    return { matches: all.map((match) => recordedMatchOf(match, contents)), outcomes };
  } catch (error) {
    if (error instanceof ContentNotStored) return undefined;
    throw error;
  }
}

class ContentNotStored extends Error {
  override name = 'ContentNotStored';
}

function byMonitorAndSeq(a: FirstStoredMatch, b: FirstStoredMatch): number {
  if (a.monitorId !== b.monitorId) return a.monitorId < b.monitorId ? -1 : 1;
  return a.seq - b.seq;
}

/**
 * Stores the content of every candidate's item and returns it as it was first stored, by thing_id. An item that the
 * forum removed is stored and returned blank.
 *
 * Before: `recordBatch` received a batch of candidates. After: `recordUnderLock` stores the matches that refer to this
 * content. Each statement commits on its own, before any monitor is locked, because other recorders may store
 * the same items. A crash leaves content without a match, which expires; repeating the call changes nothing.
 */
export async function storeContents(
  db: Queryable,
  candidates: readonly Candidate[],
): Promise<Map<string, ItemContent>> {
  const items = new Map<string, ItemContent>();
  for (const { item } of candidates) if (!items.has(item.thing_id)) items.set(item.thing_id, item);
  if (items.size === 0) return new Map();
  const ids = [...items.keys()].sort();
  const { kept, removed } = await findKnownItems(db, ids);
  const toStore = ids.filter((id) => !kept.has(id)).map((id) => storableContent(items.get(id)!));
  if (toStore.length > 0) {
    await storeItems(
      db,
      toStore.map((item) => (removed.has(item.thing_id) ? blankedContent(item) : item)),
    );
  }
  return readStoredContents(db, ids);
}

/**
 * Reads the stored content and blanks what the forum removed in the meantime.
 *
 * A removal first inserts a row into removed_things, then blanks the stored content. The recorder first stores the
 * content, then reads removed_things. So at least one of the two always sees the other, and content that was inserted
 * after its removal is blanked here.
 */
export async function readStoredContents(db: Queryable, ids: readonly string[]): Promise<Map<string, ItemContent>> {
  const contents = new Map<string, ItemContent>();
  const toBlank: ItemContent[] = [];
  for (const { item, removed } of await readItems(db, ids)) {
    const content = removed ? blankedContent(item) : item;
    if (content.author !== item.author || content.title !== item.title || content.body !== item.body) {
      toBlank.push(content);
    }
    contents.set(item.thing_id, content);
  }
  if (toBlank.length > 0) await overwriteItems(db, toBlank);
  return contents;
}

function storableContent(item: ItemContent): ItemContent {
  return {
    ...item,
    subreddit: storableText(item.subreddit),
    author: storableText(item.author),
    title: storableText(item.title),
    body: storableText(item.body),
    permalink: storableText(item.permalink),
  };
}
