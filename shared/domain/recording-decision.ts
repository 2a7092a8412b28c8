const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A post that is made just before the monitor still counts when it enters after it. */
const HEAD_START_MS = 5 * MINUTE_MS;
/** An older thing is a re-sighting, not news; also bounds how long a stored pair must be remembered. */
const OLDEST_NEWS_MS = 7 * DAY_MS;

/** What the decision needs to know of a candidate; times in ms since the epoch. */
export interface CandidateFacts {
  monitorVersion: number;
  enteredAtMs: number;
  createdUtcMs: number;
  replay: boolean;
}

/** The monitor as it is under its lock. */
export interface MonitorFacts {
  status: string;
  version: number;
  /** Real time of the last create or resume. */
  activeSinceMs: number;
}

export type Refusal =
  'monitor_gone' | 'monitor_inactive' | 'entered_before_active' | 'created_too_early' | 'rule_changed';

/**
 * Why a candidate of an unseen (monitor, thing) becomes no match; undefined: it does become one. State counts at the
 * time the item entered, except that an inactive monitor takes nothing.
 *
 * @param monitor undefined: it has no counters row, so it is being deleted
 * @param nextVersionSinceMs when the version after the candidate's began; undefined: it never did, or is forgotten
 * @param toleranceMs how far the broker's clock and Postgres's may differ: 0 on one machine
 */
export function rejectionReason(
  candidate: CandidateFacts,
  monitor: MonitorFacts | undefined,
  nextVersionSinceMs: number | undefined,
  toleranceMs: number,
): Refusal | undefined {
  if (!monitor) return 'monitor_gone';
  if (monitor.status !== 'active') return 'monitor_inactive';
  if (candidate.enteredAtMs < monitor.activeSinceMs - toleranceMs) return 'entered_before_active';
  const earliest = Math.max(monitor.activeSinceMs - HEAD_START_MS, candidate.enteredAtMs - OLDEST_NEWS_MS);
  if (!candidate.replay && candidate.createdUtcMs < earliest) return 'created_too_early';
  if (candidate.monitorVersion === monitor.version) return undefined;
  // Less the tolerance: what entered later, the matcher scans again by the new rule, so nothing falls between the two.
  const enteredUnderIt = nextVersionSinceMs !== undefined && candidate.enteredAtMs < nextVersionSinceMs - toleranceMs;
  return enteredUnderIt ? undefined : 'rule_changed';
}
