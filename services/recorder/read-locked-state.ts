import type { Candidate } from '../../schemas/messages/candidate.ts';
import { storableText } from '../../shared/domain/storable-text.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { findStoredMatches } from '../../shared/stores/matches/recording-matches.ts';
import type { FirstStoredMatch } from '../../shared/stores/matches/recording-matches.ts';
import { findThreadsOfDay } from '../../shared/stores/matches/recording-threads.ts';
import { readRecordingMonitors, readVersionStarts } from '../../shared/stores/monitors/recording-monitors.ts';
import type { RecordingMonitor } from '../../shared/stores/monitors/recording-monitors.ts';
import { findMutes } from '../../shared/stores/monitors/recording-mutes.ts';
import type { AskedMute } from '../../shared/stores/monitors/recording-mutes.ts';

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
export const versionKey = (monitorId: string, version: number) => `${monitorId} ${version}`;

/**
 * Reads the state that decides about the candidates: three statements, one more when a monitor has mutes and one more
 * when a monitor has thread_once. Run it after the lock, in the same transaction.
 */
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
  const key = ({ monitorId, kind, value }: AskedMute) => `${monitorId} ${kind} ${value}`;
  const asked = new Map(candidates.flatMap(mutesOf).map((mute) => [key(mute), mute]));
  const found = new Set((await findMutes(db, [...asked.values()])).map(key));
  return (candidate) => found.size > 0 && mutesOf(candidate).some((mute) => found.has(key(mute)));
}

/** The mutes that a candidate must not have. Names compare in any case, like those of a rule. */
function mutesOf({ monitor_id: monitorId, item }: Candidate): AskedMute[] {
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
