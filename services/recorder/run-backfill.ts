import type { ItemContent } from '../../schemas/messages/forum-item.ts';
import type { RecordedMatch } from '../../schemas/messages/monitor-match.ts';
import {
  FORUM_COMMENTS,
  FORUM_POSTS,
  ITEMS_ARCHIVER_GROUP,
  matcherGroups,
  MONITOR_CANDIDATES,
  MONITOR_MATCHES,
  RECORDER_GROUP,
} from '../../schemas/messages/topics.ts';
import { readArchivedCandidates } from '../../shared/archive/archived-candidates.ts';
import type { ArchivePosition } from '../../shared/archive/archived-candidates.ts';
import { matchItemOf } from '../../shared/archive/archived-item.ts';
import {
  endBackfill,
  mayBackfill,
  saveBackfillProgress,
  storeAwaitedOffsets,
} from '../../shared/backfills/backfills.ts';
import type { BackfillState, ClaimedBackfill } from '../../shared/backfills/backfills.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { hasFinished, readGroupProgress } from '../../shared/kafka/group-progress.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import { readBackfilledMatches, recordedMatchOf } from '../../shared/matches/recording.ts';
import { MonitorIndex } from '../../shared/matching/monitor-index.ts';
import type { MatchItem, Rule } from '../../shared/matching/rule.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { CooperativeYield } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { readStoredContents, storeContents } from './record-batch.ts';
import { CHUNK, recordChunk } from './record-chunk.ts';
import type { FoundItem } from './record-chunk.ts';

interface ArchivedCandidate {
  position: ArchivePosition;
  content: ItemContent;
  item: MatchItem;
}

interface ArchiveRange {
  rule: Rule;
  from: Date;
  to: Date;
  /** undefined: from the beginning. */
  after: ArchivePosition | undefined;
}

/**
 * Reads a part of what may match in a range, in the order of (first_seen_at, thing_id).
 *
 * @returns `next`: the position to go on after; undefined when nothing is left
 */
export type ReadArchive = (
  range: ArchiveRange,
  signal: AbortSignal,
) => Promise<{ items: ArchivedCandidate[]; next: ArchivePosition | undefined }>;

/** Some megabytes, also with the long texts of posts; two parts of a run are held at a time. */
const PART = 1_000;

export function createReadArchive(clickhouse: ClickHouseClient): ReadArchive {
  return async (range, signal) => {
    const page = await readArchivedCandidates(clickhouse, { ...range, order: 'oldest', limit: PART, signal });
    const items = page.items.map((archived) => ({
      position: { firstSeenAt: archived.firstSeenAt, thingId: archived.content.thing_id },
      content: archived.content,
      item: matchItemOf(archived),
    }));
    return { items, next: page.next };
  };
}

/** Live candidates count as traffic for this long. */
const RECENT_MS = 2_000;

/** Whether this process records live matches now, so that its backfills leave room for them. */
export class LiveLoad {
  private lastAt = Number.NEGATIVE_INFINITY;

  noteBatch(): void {
    this.lastAt = performance.now();
  }

  isPresent(): boolean {
    return performance.now() - this.lastAt < RECENT_MS;
  }
}

export interface BackfillDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** Over how many groups of matchers the monitors are shared out; default 1. */
  matcherShards?: number;
  publisher: Publisher;
  pool: Pool;
  readArchive: ReadArchive;
  /** Resolves with true when the archive's schema is up to date, with false when the process stops first. */
  archiveReady: Promise<boolean>;
  /** How far the clocks of crawler, broker and Postgres may differ, in ms: 0 on one machine. */
  toleranceMs: number;
  /** After a kill -9 another process takes a run up this late; default 30. */
  leaseSeconds?: number;
  liveLoad: LiveLoad;
  metrics: Metrics;
  logger: Logger;
}

export type RunDeps = Required<BackfillDeps> & { cooperativeYield: CooperativeYield; signal: AbortSignal };

/** After this long the other runs of the process, and of the account, are worked on. */
const SLICE_MS = 30_000;
/** While nothing matches, the position is saved and the monitor looked up this often. */
const SAVE_MS = 500;
/** Beside live traffic a run takes smaller parts, and rests this many times as long as each took. */
const GENTLE_CHUNK = 100;
const REST = 10;

/** How a slice ended: the run's final state; or it continues later, after others or once all is settled. */
export type SliceEnd = Exclude<BackfillState, 'running' | 'failed'> | 'slice_over' | 'not_settled';

/**
 * Works on a claimed run until it ends or its time slice is over. It goes on where the last commit left off, so it
 * may be killed at any point:
 * 1. Wait until everything that entered before the run is archived, and recorded if it matches live.
 * 2. Publish what was committed and perhaps not published.
 * 3. Read the archive part by part, match it, record what matches (`recordChunk`) and publish it.
 *
 * @throws BackfillLeaseLost, and what engines throw when they are unavailable
 */
export async function runBackfill(deps: RunDeps, claimed: ClaimedBackfill): Promise<SliceEnd> {
  if (!(await mayBackfill(deps.pool, claimed))) return end(deps, await publishRest(deps, claimed), 'cancelled');
  if (!(await isPipelineSettled(deps, claimed))) return 'not_settled';
  const slice = new TimeSlice(deps, await publishRest(deps, claimed));
  return slice.work();
}

async function end(
  { pool }: RunDeps,
  run: ClaimedBackfill,
  state: Exclude<BackfillState, 'running' | 'failed'>,
): Promise<SliceEnd> {
  await endBackfill(pool, run, state);
  return state;
}

class TimeSlice {
  private readonly deps: RunDeps;
  private run: ClaimedBackfill;
  private readonly index = new MonitorIndex();
  private readonly endsAt = performance.now() + SLICE_MS;
  private savedAt = performance.now();
  /** The seq up to which the matches are on monitor.matches. */
  private publishing: Promise<number | undefined>;
  private readonly reads = new AbortController();

  constructor(deps: RunDeps, run: ClaimedBackfill) {
    this.deps = deps;
    this.run = run;
    this.publishing = Promise.resolve(run.publishedSeq);
    this.index.set(run.monitorId, run.rule);
  }

  async work(): Promise<SliceEnd> {
    try {
      return await this.workUntilSliceEnds();
    } finally {
      // The next part may be being read.
      this.reads.abort();
    }
  }

  private async workUntilSliceEnds(): Promise<SliceEnd> {
    let after = this.run.position;
    let reading = this.read(after);
    for (;;) {
      const { items, next } = await reading;
      // The next part is read while this one is recorded.
      if (next !== undefined) {
        reading = this.read(next);
        // Awaited in the next iteration, unless this one is the last.
        reading.catch(() => undefined);
      }
      after = next ?? items.at(-1)?.position ?? after;
      const stop = await this.record(await this.matchesOf(items), after);
      if (stop !== undefined) return this.end(stop);
      // Stopped between two chunks, it has not decided all of this part.
      if (!this.deps.signal.aborted) {
        if (next === undefined) return this.end('done');
        if (performance.now() < this.endsAt) continue;
      }
      await this.save();
      return 'slice_over';
    }
  }

  private async end(state: Exclude<BackfillState, 'running' | 'failed'>): Promise<SliceEnd> {
    await this.published();
    return end(this.deps, this.run, state);
  }

  private read(after: ArchivePosition | undefined): ReturnType<RunDeps['readArchive']> {
    const { rule, from, to, untilNow } = this.run;
    // With clocks that differ, what entered before the run may have been first seen a moment after it.
    const until = untilNow ? new Date(to.getTime() + this.deps.toleranceMs) : to;
    const range: ArchiveRange = { rule, from, to: until, after };
    return this.deps.readArchive(range, AbortSignal.any([this.deps.signal, this.reads.signal]));
  }

  private async matchesOf(items: readonly ArchivedCandidate[]): Promise<FoundItem[]> {
    const found: FoundItem[] = [];
    for (const { position, content, item } of items) {
      await this.deps.cooperativeYield.pause();
      const [match] = this.index.match(item);
      if (match === undefined) continue;
      const { firstSeenAt } = position;
      const candidate: FoundItem['candidate'] = {
        v: 1,
        monitor_id: this.run.monitorId,
        monitor_version: this.run.version,
        matched_terms: match.matchedTerms,
        entered_at: firstSeenAt,
        first_seen_at: firstSeenAt,
        replay: false,
        item: content,
      };
      found.push({ candidate, position });
    }
    return found;
  }

  /** @param upTo the position up to which everything that matches is in `found` */
  private async record(
    found: readonly FoundItem[],
    upTo: ArchivePosition | undefined,
  ): Promise<Exclude<BackfillState, 'running' | 'failed'> | undefined> {
    const { pool, signal, liveLoad } = this.deps;
    const size = liveLoad.isPresent() ? GENTLE_CHUNK : CHUNK;
    let contents = this.storeContents(found.slice(0, size));
    for (let first = 0; first < found.length; first += size) {
      const begun = performance.now();
      const chunk = { found: found.slice(first, first + size), contents: await contents };
      // The contents of the next part are stored, and the last one is published, while this one is recorded.
      contents = this.storeContents(found.slice(first + size, first + 2 * size));
      const isLast = first + size >= found.length;
      const position = isLast && upTo !== undefined ? upTo : chunk.found.at(-1)!.position;
      const { progress, matches, stop } = await recordChunk(pool, this.run, { ...chunk, position });
      this.run = { ...this.run, ...progress };
      this.deps.metrics.backfillMatches.inc(matches.length);
      this.savedAt = performance.now();
      await this.published();
      this.publish(matches);
      if (stop !== undefined) return stop;
      if (signal.aborted) return undefined;
      if (liveLoad.isPresent()) await delay(REST * (performance.now() - begun), signal);
    }
    if (found.length > 0 || upTo === undefined) return undefined;
    this.run = { ...this.run, position: upTo };
    if (performance.now() - this.savedAt < SAVE_MS) return undefined;
    await this.save();
    return (await mayBackfill(pool, this.run)) ? undefined : 'cancelled';
  }

  private storeContents(found: readonly FoundItem[]): ReturnType<typeof storeContents> {
    const stored = storeContents(
      this.deps.pool,
      found.map(({ candidate }) => candidate),
    );
    // Awaited with the next part, unless this one ends the slice.
    stored.catch(() => undefined);
    return stored;
  }

  private publish(matches: readonly RecordedMatch[]): void {
    const { lastSeq } = this.run;
    const publishing = publishMatches(this.deps.publisher, matches).then(() => lastSeq);
    publishing.catch(() => undefined);
    this.publishing = publishing;
  }

  /** Waits until everything that was recorded is published. @throws PublishFailed */
  private async published(): Promise<void> {
    this.run = { ...this.run, publishedSeq: await this.publishing };
  }

  private async save(): Promise<void> {
    await this.published();
    await saveBackfillProgress(this.deps.pool, this.run, this.run);
    this.savedAt = performance.now();
  }
}

const ITEMS = [FORUM_POSTS.name, FORUM_COMMENTS.name];

/**
 * Whether the archive may be read for a run. Everything that had entered when the run was first taken up must be in the
 * archive, so that no gap is left between the archive and the live matches; and recorded if it matches live, so that
 * the backfill does not record it first, undelivered. The heads of the topics are stored with the run: once reached,
 * they stay reached.
 *
 * @throws GroupProgressUnavailable, BackfillLeaseLost
 */
async function isPipelineSettled(
  { kafka, prefix, pool, matcherShards }: Pick<RunDeps, 'kafka' | 'prefix' | 'pool' | 'matcherShards'>,
  run: ClaimedBackfill,
): Promise<boolean> {
  const progressOf = (group: string, topics: readonly string[]) => readGroupProgress(kafka, prefix, { group, topics });
  const archiver = await progressOf(ITEMS_ARCHIVER_GROUP, ITEMS);
  let { awaited } = run;
  if (awaited === undefined) {
    awaited = { items: archiver.heads };
    await storeAwaitedOffsets(pool, run, awaited);
    run.awaited = awaited;
  }
  if (!hasFinished(awaited.items, archiver)) return false;
  for (const group of matcherGroups(matcherShards)) {
    if (!hasFinished(awaited.items, await progressOf(group, ITEMS))) return false;
  }
  const recorder = await progressOf(RECORDER_GROUP, [MONITOR_CANDIDATES.name]);
  if (awaited.candidates === undefined) {
    run.awaited = { ...awaited, candidates: recorder.heads };
    await storeAwaitedOffsets(pool, run, run.awaited);
  }
  return hasFinished(run.awaited?.candidates ?? {}, recorder);
}

function publishMatches(publisher: Publisher, matches: readonly RecordedMatch[]): Promise<void> {
  const records = matches.map((match) => ({ key: match.monitor_id, value: JSON.stringify(match) }));
  return publisher.publish(MONITOR_MATCHES.name, records);
}

/**
 * Publishes the matches of a run that were committed and perhaps not published, because a process died or the broker
 * was unavailable in between. A repeat is harmless.
 *
 * @returns the run with all its matches published
 * @throws PublishFailed
 */
async function publishRest(
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
