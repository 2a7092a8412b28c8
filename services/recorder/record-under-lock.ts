import type { Candidate } from '../../schemas/messages/monitor-match.ts';
import {
  addToMonitorDays,
  advanceCounters,
  findStoredMatches,
  findThreadsOfDay,
  insertMatches,
  insertThreadsOfDay,
  lockRecordingMonitors,
  readRecordingMonitors,
  readVersionStarts,
} from '../../shared/matches/recording.ts';
import type { FirstStoredMatch, RecordingMonitor, ThreadOfDay } from '../../shared/matches/recording.ts';
import { numberMatches, rejectionReason } from '../../shared/matches/rules/match-decision.ts';
import type {
  AcceptedCandidate,
  CounterAdvance,
  CounterFacts,
  NumberedMatch,
  RejectionReason,
} from '../../shared/matches/rules/match-decision.ts';
import { findMutes } from '../../shared/monitors/monitors.ts';
import type { MuteKey } from '../../shared/monitors/monitors.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { storableText } from '../../shared/postgres/sql.ts';
import type { RecordBatchDeps } from './record-batch.ts';

/**
 * Outcome of a candidate:
 * - recorded: stored as a match;
 * - suppressed: stored, but over the daily cap, or of a thread that had its match of the day;
 * - not_stored: to be suppressed, but over the limit of suppressed matches;
 * - repeated: its (monitor, item) pair was stored before;
 * - duplicate: another candidate of this batch has the same pair;
 * - otherwise the reason why it was refused.
 */
export type Outcome = 'recorded' | 'suppressed' | 'not_stored' | 'repeated' | 'duplicate' | RejectionReason;
export type OutcomeCounts = Partial<Record<Outcome, number>>;

interface RecordedPairs {
  matches: FirstStoredMatch[];
  repeated: FirstStoredMatch[];
  outcomes: OutcomeCounts;
}

const NO_THREADS: ReadonlySet<string> = new Set();

/**
 * Locks the monitors, checks each candidate, numbers the accepted ones and inserts the matches. The number of
 * statements does not depend on the batch size.
 *
 * Before: `storeContents` stored the contents. After: `recordBatch` commits and returns the matches for publishing. A
 * crash rolls everything back; a repeat of a committed batch finds its pairs and inserts nothing.
 *
 * @param db the client of an open transaction
 */
export async function recordUnderLock(
  db: Queryable,
  candidates: readonly Candidate[],
  limits: Required<Omit<RecordBatchDeps, 'pool'>>,
): Promise<RecordedPairs> {
  // 1. Lock the monitors' `monitor_counters` rows. Every change of a monitor's state or rule, and every numbering of
  // its matches, takes this lock first, so numbers commit in order.
  const monitorIds = [...new Set(candidates.map((candidate) => candidate.monitor_id))].sort();
  await lockRecordingMonitors(db, monitorIds);
  // 2. Read their state after the lock, so that it cannot change before the commit.
  const state = await readLockedState(db, monitorIds, candidates);
  // 3. Check every candidate; of several accepted ones with the same pair the first counts.
  const { accepted, outcomes } = checkCandidates(candidates, state, limits.toleranceMs);
  // 4. Number the matches and insert them. Both commit together, so a number never exists without its match.
  const { matches, advances, threads } = numberAccepted(accepted, state, limits.suppressedPerDay);
  if (advances.length > 0) {
    await addToMonitorDays(db, advances);
    await advanceCounters(db, advances);
  }
  if (matches.length > 0) await insertMatches(db, matches);
  if (threads.length > 0) await insertThreadsOfDay(db, threads);
  const notStored = advances.reduce((sum, advance) => sum + advance.notStored, 0);
  count(outcomes, 'not_stored', notStored);
  const suppressed = matches.filter((match) => match.suppressed).length;
  count(outcomes, 'suppressed', suppressed);
  count(outcomes, 'recorded', matches.length - suppressed);
  return { matches, repeated: [...state.stored.values()], outcomes };
}

function checkCandidates(
  candidates: readonly Candidate[],
  state: LockedState,
  toleranceMs: number,
): { accepted: Map<string, AcceptedCandidate[]>; outcomes: OutcomeCounts } {
  const accepted = new Map<string, AcceptedCandidate[]>();
  const outcomes: OutcomeCounts = {};
  const acceptedPairs = new Set<string>();
  for (const candidate of candidates) {
    const key = pairKey(candidate.monitor_id, candidate.item.thing_id);
    if (state.stored.has(key)) {
      count(outcomes, 'repeated');
      continue;
    }
    const refusal = refusalFor(state, candidate, toleranceMs);
    if (refusal) {
      count(outcomes, refusal);
      continue;
    }
    if (acceptedPairs.has(key)) {
      count(outcomes, 'duplicate');
      continue;
    }
    acceptedPairs.add(key);
    const ofMonitor = accepted.get(candidate.monitor_id) ?? [];
    ofMonitor.push(toAccepted(candidate));
    accepted.set(candidate.monitor_id, ofMonitor);
  }
  return { accepted, outcomes };
}

function refusalFor(state: LockedState, candidate: Candidate, toleranceMs: number): RejectionReason | undefined {
  const monitor = state.monitors.get(candidate.monitor_id);
  const startOf = (version: number) => state.versionStarts.get(versionKey(candidate.monitor_id, version));
  return rejectionReason(
    {
      monitorVersion: candidate.monitor_version,
      enteredAtMs: Date.parse(candidate.entered_at),
      createdUtcMs: Date.parse(candidate.item.created_utc),
      replay: candidate.replay,
      muted: state.isMuted(candidate),
    },
    monitor && {
      status: monitor.status,
      version: monitor.version,
      activeSinceMs: monitor.activeSince.getTime(),
    },
    { versionSinceMs: startOf(candidate.monitor_version), nextVersionSinceMs: startOf(candidate.monitor_version + 1) },
    toleranceMs,
  );
}

export function toAccepted(candidate: Candidate): AcceptedCandidate {
  return {
    thingId: candidate.item.thing_id,
    kind: candidate.item.kind,
    postId: candidate.item.post_id,
    matchedTerms: candidate.matched_terms.map(storableText),
    enteredAt: candidate.entered_at,
    firstSeenAt: candidate.first_seen_at,
  };
}

/** All results are sorted, because all writers insert rows in the order of their unique keys to avoid deadlocks. */
function numberAccepted(
  accepted: ReadonlyMap<string, AcceptedCandidate[]>,
  { monitors, threadsOfDay }: LockedState,
  suppressedPerDay: number,
): { matches: NumberedMatch[]; advances: CounterAdvance[]; threads: ThreadOfDay[] } {
  const numbered = [...accepted.keys()].sort().map((monitorId) => {
    const monitor = monitors.get(monitorId)!;
    return numberMatches(countersOf(monitor, threadsOfDay.get(monitorId)), accepted.get(monitorId)!, suppressedPerDay);
  });
  const threads = numbered.flatMap((ofMonitor) => {
    const { day, monitorId } = ofMonitor.advance;
    return ofMonitor.threads.map((postId) => ({ day, monitorId, postId }));
  });
  return {
    matches: numbered.flatMap((ofMonitor) => ofMonitor.matches),
    advances: numbered.map((ofMonitor) => ofMonitor.advance),
    threads: threads.sort(byKey),
  };
}

/** What numbers the matches of a locked monitor. @param threads that had their match of the day */
export function countersOf(monitor: RecordingMonitor, threads: ReadonlySet<string> = NO_THREADS): CounterFacts {
  return {
    ...monitor,
    lastMatchAtMs: monitor.lastMatchAt?.getTime(),
    notStoredUntilMs: monitor.notStoredUntil?.getTime(),
    threadsNotStoredUntilMs: monitor.threadsNotStoredUntil?.getTime(),
    threadsOfDay: threads,
    nowMs: monitor.now.getTime(),
  };
}

function byKey(a: ThreadOfDay, b: ThreadOfDay): number {
  for (const column of ['day', 'monitorId', 'postId'] as const) {
    if (a[column] !== b[column]) return a[column] < b[column] ? -1 : 1;
  }
  return 0;
}

function count(outcomes: OutcomeCounts, outcome: Outcome, by = 1): void {
  if (by > 0) outcomes[outcome] = (outcomes[outcome] ?? 0) + by;
}

/** State that is read after the monitors are locked. */
export interface LockedState {
  /** Without those that are being erased. */
  monitors: ReadonlyMap<string, RecordingMonitor>;
  stored: ReadonlyMap<string, FirstStoredMatch>;
  /** Start of a rule version in ms, by `versionKey`. */
  versionStarts: ReadonlyMap<string, number>;
  isMuted: (candidate: Candidate) => boolean;
  /** Of the candidates' threads, those that had their match of the day, by monitor with thread_once. */
  threadsOfDay: ReadonlyMap<string, ReadonlySet<string>>;
}

export const pairKey = (monitorId: string, thingId: string) => `${monitorId} ${thingId}`;
const versionKey = (monitorId: string, version: number) => `${monitorId} ${version}`;

/** Run it after the lock, in the same transaction: three statements, and one each for mutes and thread_once. */
export async function readLockedState(
  db: Queryable,
  monitorIds: readonly string[],
  candidates: readonly Candidate[],
): Promise<LockedState> {
  const monitors = await readRecordingMonitors(db, monitorIds);
  // A monitor without a counters row is being erased with all its matches, so none of them is published again.
  const present = candidates.filter((candidate) => monitors.has(candidate.monitor_id));
  const pairs = new Map(
    present.map(({ monitor_id, item }) => [
      pairKey(monitor_id, item.thing_id),
      { monitorId: monitor_id, thingId: item.thing_id },
    ]),
  );
  const stored = await findStoredMatches(db, [...pairs.values()]);
  return {
    monitors,
    stored: new Map(stored.map((match) => [pairKey(match.monitorId, match.thingId), match])),
    versionStarts: await readStarts(db, present),
    isMuted: await readMutes(
      db,
      present.filter(({ monitor_id }) => monitors.get(monitor_id)!.hasMutes),
    ),
    threadsOfDay: await readThreads(
      db,
      present.filter(({ monitor_id }) => monitors.get(monitor_id)!.threadOnce),
      (monitorId) => monitors.get(monitorId)!.day,
    ),
  };
}

async function readStarts(db: Queryable, candidates: readonly Candidate[]): Promise<Map<string, number>> {
  const asked = new Map(
    candidates.flatMap(({ monitor_id, monitor_version }) =>
      [monitor_version, monitor_version + 1].map((version) => [
        versionKey(monitor_id, version),
        { monitorId: monitor_id, version },
      ]),
    ),
  );
  const starts = await readVersionStarts(db, [...asked.values()]);
  return new Map(starts.map((start) => [versionKey(start.monitorId, start.version), start.since.getTime()]));
}

/** Whether a candidate of these is muted; false for others. */
async function readMutes(db: Queryable, candidates: readonly Candidate[]): Promise<(candidate: Candidate) => boolean> {
  if (candidates.length === 0) return () => false;
  const key = ({ monitorId, kind, value }: MuteKey) => `${monitorId} ${kind} ${value}`;
  const asked = new Map(candidates.flatMap(mutesOf).map((mute) => [key(mute), mute]));
  const found = new Set((await findMutes(db, [...asked.values()])).map(key));
  return (candidate) => found.size > 0 && mutesOf(candidate).some((mute) => found.has(key(mute)));
}

/** The mutes that a candidate must not have. Names compare in any case, like those of a rule. */
function mutesOf({ monitor_id: monitorId, item }: Candidate): MuteKey[] {
  return [
    { monitorId, kind: 'subreddit', value: storableText(item.subreddit).toLowerCase() },
    { monitorId, kind: 'author', value: storableText(item.author).toLowerCase() },
    { monitorId, kind: 'thread', value: `t3_${item.post_id}` },
  ];
}

/** Reads which of the candidates' threads had their match of the day, by monitor. @param dayOf a monitor's day */
export async function readThreads(
  db: Queryable,
  candidates: readonly Candidate[],
  dayOf: (monitorId: string) => string,
): Promise<Map<string, Set<string>>> {
  const byMonitor = new Map<string, Set<string>>();
  if (candidates.length === 0) return byMonitor;
  const asked = new Map(
    candidates.map(({ monitor_id, item }) => [
      `${monitor_id} ${item.post_id}`,
      { day: dayOf(monitor_id), monitorId: monitor_id, postId: item.post_id },
    ]),
  );
  for (const { monitorId, postId } of await findThreadsOfDay(db, [...asked.values()])) {
    byMonitor.set(monitorId, (byMonitor.get(monitorId) ?? new Set()).add(postId));
  }
  return byMonitor;
}
