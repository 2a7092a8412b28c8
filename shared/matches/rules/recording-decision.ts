const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A post that was created just before the monitor still counts if it enters after it. */
const HEAD_START_MS = 5 * MINUTE_MS;
/** An older thing was seen before. This also bounds how long a stored pair must be kept. */
const OLDEST_NEWS_MS = 7 * DAY_MS;
/** While the matchers are behind, a newer rule judges what entered so long before it began, and nothing older. */
const RULE_HEAD_START_MS = 60 * MINUTE_MS;

/** How far the clocks of Postgres and the brokers may differ where they do not share a machine, in milliseconds. */
export const CLOCK_TOLERANCE_MS = 500;

/** The facts of a candidate that decide; times in milliseconds since the epoch. */
export interface CandidateFacts {
  monitorVersion: number;
  enteredAtMs: number;
  createdUtcMs: number;
  replay: boolean;
  /** Whether the monitor has a mute for its community, author or thread, read under the monitor's lock. */
  muted: boolean;
}

export interface MonitorFacts {
  status: string;
  version: number;
  /** Real time (wall_now) of the last create or resume. */
  activeSinceMs: number;
}

/** When rule versions began, in milliseconds since the epoch. */
export interface RuleStarts {
  /** The candidate's version; undefined when its row was deleted, later than any item from before it expires. */
  versionSinceMs: number | undefined;
  /** The version after it; undefined when it never began or its row was deleted. */
  nextVersionSinceMs: number | undefined;
}

export type RejectionReason =
  'monitor_gone' | 'monitor_inactive' | 'entered_before_active' | 'created_too_early' | 'rule_changed' | 'muted';

/**
 * Why a candidate of a new (monitor, thing) pair does not become a match; undefined when it does. The monitor's state
 * at the time the item entered decides, except that an inactive monitor accepts nothing, and that mutes count from the
 * moment they are made.
 *
 * @param monitor undefined when it has no counters row, so that it is being deleted
 * @param toleranceMs how far the clocks of the broker and of Postgres may differ: 0 on one machine
 */
export function rejectionReason(
  candidate: CandidateFacts,
  monitor: MonitorFacts | undefined,
  starts: RuleStarts,
  toleranceMs: number,
): RejectionReason | undefined {
  if (!monitor) return 'monitor_gone';
  if (monitor.status !== 'active') return 'monitor_inactive';
  if (candidate.enteredAtMs < monitor.activeSinceMs - toleranceMs) return 'entered_before_active';
  const isTooEarly = !candidate.replay && candidate.createdUtcMs < monitor.activeSinceMs - HEAD_START_MS;
  if (isTooEarly || !isNews(candidate)) return 'created_too_early';
  if (!isOfItsRule(candidate, monitor, starts, toleranceMs)) return 'rule_changed';
  return candidate.muted ? 'muted' : undefined;
}

/** Whether a thing was created recently enough when it entered. What comes from dump files is news at any age. */
export function isNews({
  createdUtcMs,
  enteredAtMs,
  replay,
}: Pick<CandidateFacts, 'createdUtcMs' | 'enteredAtMs' | 'replay'>): boolean {
  return replay || createdUtcMs >= enteredAtMs - OLDEST_NEWS_MS;
}

/** Whether the rule that the candidate matched was the monitor's when the item entered, or began within the hour. */
function isOfItsRule(
  candidate: CandidateFacts,
  monitor: MonitorFacts,
  { versionSinceMs, nextVersionSinceMs }: RuleStarts,
  toleranceMs: number,
): boolean {
  const isOfLaterRule =
    versionSinceMs !== undefined && candidate.enteredAtMs < versionSinceMs - RULE_HEAD_START_MS - toleranceMs;
  if (isOfLaterRule) return false;
  if (candidate.monitorVersion === monitor.version) return true;
  // The tolerance is subtracted: the matcher scans whatever entered later again with the new rule, so nothing is
  // missed.
  return nextVersionSinceMs !== undefined && candidate.enteredAtMs < nextVersionSinceMs - toleranceMs;
}
