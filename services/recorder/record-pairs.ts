import type { Candidate } from '../../schemas/messages/candidate.ts';
import { numberMatches } from '../../shared/domain/match-numbering.ts';
import type { AcceptedCandidate, CounterAdvance, NumberedMatch } from '../../shared/domain/match-numbering.ts';
import { rejectionReason } from '../../shared/domain/recording-decision.ts';
import type { RejectionReason } from '../../shared/domain/recording-decision.ts';
import { storableText } from '../../shared/domain/storable-text.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import {
  addToMonitorDays,
  advanceCounters,
  findStoredMatches,
  insertMatches,
} from '../../shared/stores/matches/recording-matches.ts';
import type { FirstStoredMatch } from '../../shared/stores/matches/recording-matches.ts';
import {
  lockRecordingMonitors,
  readRecordingMonitors,
  readVersionStarts,
} from '../../shared/stores/monitors/recording-monitors.ts';
import type { RecordingMonitor } from '../../shared/stores/monitors/recording-monitors.ts';

/**
 * Outcome of a candidate:
 * - recorded: stored as a match;
 * - suppressed: stored, but over the daily cap;
 * - not_stored: over the daily cap and over the limit of suppressed matches;
 * - repeated: its (monitor, thing) pair was stored before;
 * - duplicate: another candidate of this batch has the same pair;
 * - otherwise the reason why it was refused.
 */
export type Outcome = 'recorded' | 'suppressed' | 'not_stored' | 'repeated' | 'duplicate' | RejectionReason;
export type OutcomeCounts = Partial<Record<Outcome, number>>;

/** Result of one transaction. */
interface RecordedPairs {
  /** Matches stored by this transaction. */
  matches: FirstStoredMatch[];
  /** Matches whose pairs were stored before. */
  repeated: FirstStoredMatch[];
  outcomes: OutcomeCounts;
}

export interface RecordingLimits {
  /** How far the broker's clock and Postgres's may differ, in ms: 0 on one machine. */
  toleranceMs: number;
  /** Maximum suppressed matches that one monitor stores per UTC day. */
  suppressedPerDay: number;
}

/** State that is read after the monitors are locked. */
interface LockedState {
  monitors: ReadonlyMap<string, RecordingMonitor>;
  /** By monitor and thing. */
  stored: ReadonlyMap<string, FirstStoredMatch>;
  /** Start of a rule version, by monitor and version, in ms. */
  versionStarts: ReadonlyMap<string, number>;
}

/**
 * Locks the monitors, checks each candidate, numbers the accepted ones and inserts the matches. The number of
 * statements does not depend on the batch size.
 *
 * Before: `storeContents` stored the contents. After: `recordBatch` commits and returns the matches for publishing. A
 * crash rolls everything back; a repeat of a committed batch finds its pairs and inserts nothing.
 *
 * @param db the client of an open transaction
 */
export async function recordPairs(
  db: Queryable,
  candidates: readonly Candidate[],
  limits: RecordingLimits,
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
  const { matches, advances } = numberAccepted(accepted, state.monitors, limits.suppressedPerDay);
  if (advances.length > 0) {
    await addToMonitorDays(db, advances);
    await advanceCounters(db, advances);
  }
  if (matches.length > 0) await insertMatches(db, matches);
  const notStored = advances.reduce((sum, advance) => sum + advance.notStored, 0);
  count(outcomes, 'not_stored', notStored);
  const suppressed = matches.filter((match) => match.suppressed).length;
  count(outcomes, 'suppressed', suppressed);
  count(outcomes, 'recorded', matches.length - suppressed);
  return { matches, repeated: [...state.stored.values()], outcomes };
}

async function readLockedState(
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
  const nextVersions = new Map(
    present.map(({ monitor_id, monitor_version }) => [
      versionKey(monitor_id, monitor_version + 1),
      { monitorId: monitor_id, version: monitor_version + 1 },
    ]),
  );
  const starts = await readVersionStarts(db, [...nextVersions.values()]);
  return {
    monitors,
    stored: new Map(stored.map((match) => [pairKey(match.monitorId, match.thingId), match])),
    versionStarts: new Map(starts.map((start) => [versionKey(start.monitorId, start.version), start.since.getTime()])),
  };
}

/** Returns the accepted candidates by monitor, in batch order, each pair once. */
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
  return rejectionReason(
    {
      monitorVersion: candidate.monitor_version,
      enteredAtMs: Date.parse(candidate.entered_at),
      createdUtcMs: Date.parse(candidate.item.created_utc),
      replay: candidate.replay,
    },
    monitor && {
      status: monitor.status,
      version: monitor.version,
      activeSinceMs: monitor.activeSince.getTime(),
    },
    state.versionStarts.get(versionKey(candidate.monitor_id, candidate.monitor_version + 1)),
    toleranceMs,
  );
}

function toAccepted(candidate: Candidate): AcceptedCandidate {
  return {
    thingId: candidate.item.thing_id,
    kind: candidate.item.kind,
    matchedTerms: candidate.matched_terms.map(storableText),
    enteredAt: candidate.entered_at,
    firstSeenAt: candidate.first_seen_at,
  };
}

/** Both results are sorted, because all writers insert rows in the order of their unique keys to avoid deadlocks. */
function numberAccepted(
  accepted: ReadonlyMap<string, AcceptedCandidate[]>,
  monitors: ReadonlyMap<string, RecordingMonitor>,
  suppressedPerDay: number,
): { matches: NumberedMatch[]; advances: CounterAdvance[] } {
  const numbered = [...accepted.keys()].sort().map((monitorId) => {
    const monitor = monitors.get(monitorId)!;
    const counters = {
      ...monitor,
      lastMatchAtMs: monitor.lastMatchAt?.getTime(),
      notStoredUntilMs: monitor.notStoredUntil?.getTime(),
      nowMs: monitor.now.getTime(),
    };
    return numberMatches(counters, accepted.get(monitorId)!, suppressedPerDay);
  });
  return {
    matches: numbered.flatMap((ofMonitor) => ofMonitor.matches),
    advances: numbered.map((ofMonitor) => ofMonitor.advance),
  };
}

function count(outcomes: OutcomeCounts, outcome: Outcome, by = 1): void {
  if (by > 0) outcomes[outcome] = (outcomes[outcome] ?? 0) + by;
}

const pairKey = (monitorId: string, thingId: string) => `${monitorId} ${thingId}`;
const versionKey = (monitorId: string, version: number) => `${monitorId} ${version}`;
