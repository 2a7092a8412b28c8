import type { RecordedMatch, SuppressedReason } from '../../../schemas/messages/monitor-match.ts';
import { dailyMatchCap } from '../../billing/rules/plans.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** A post that was created just before the monitor still counts if it enters after it. */
const HEAD_START_MS = 5 * MINUTE_MS;
/** An older item was seen before. This also bounds how long a stored pair must be kept. */
const OLDEST_NEWS_MS = 7 * DAY_MS;
/** While the matchers are behind, a newer rule decides about items that entered this long before it, and none older. */
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
 * Why a candidate of a new (monitor, item) pair does not become a match; undefined when it does. The monitor's state
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

/** Whether an item was created recently enough when it entered. Items of dump files are news at any age. */
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

/**
 * The first attempt waits, so that a polled page shows the match before its webhook arrives. The wake-up on
 * monitor.matches usually triggers the attempt earlier.
 */
const FIRST_ATTEMPT_DELAY_MS = 3_000;

/** Default ceiling: suppressed matches that a monitor may store a UTC day. */
export const SUPPRESSED_PER_DAY = 10_000;

/** The monitor's counters, read under its lock. */
export interface CounterFacts {
  monitorId: string;
  /** 0 before the first match. */
  lastSeq: number;
  lastMatchAtMs: number | undefined;
  /** UTC date (YYYY-MM-DD) that new matches belong to. */
  day: string;
  /** Unsuppressed matches of that day. */
  matchesOfDay: number;
  /** Stored suppressed matches of that day. */
  suppressedOfDay: number;
  /** Whatever entered until then and was not stored was decided on an earlier day. */
  notStoredUntilMs: number | undefined;
  /** Whether a thread has at most one unsuppressed match a day. */
  threadOnce: boolean;
  /** Of the candidates' threads, those that had an unsuppressed match on that day, as post ids without t3_. */
  threadsOfDay: ReadonlySet<string>;
  /** The same of candidates that were suppressed for their thread. */
  threadsNotStoredUntilMs: number | undefined;
  hasWebhook: boolean;
  /** Whether matches are sent together: then none is delivered by itself. */
  hasDigest: boolean;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  /** service_now(), read under the lock. */
  nowMs: number;
}

/** The fields of a candidate that its match takes over; times as in the candidate. */
export interface AcceptedCandidate {
  thingId: string;
  kind: 'post' | 'comment';
  /** The thread, without t3_. */
  postId: string;
  matchedTerms: string[];
  enteredAt: string;
  firstSeenAt: string;
}

export interface NumberedMatch extends AcceptedCandidate {
  monitorId: string;
  seq: number;
  createdAt: string;
  suppressed: boolean;
  /** undefined when it is not suppressed, or because of the daily cap. */
  suppressedReason: SuppressedReason | undefined;
  firstDelivery: RecordedMatch['first_delivery'];
  backfill: boolean;
  /** When the first delivery attempt is due; null when nothing is delivered. */
  nextAttemptAt: string | null;
}

/** The change of a monitor's counters by a batch. */
export interface CounterAdvance {
  monitorId: string;
  lastSeq: number;
  /** null before the first match. */
  lastMatchAt: string | null;
  day: string;
  matches: number;
  suppressed: number;
  /** Candidates beyond the ceiling of suppressed matches: they are counted and not stored. */
  notStored: number;
  /** The latest entered_at of those over the daily cap; null when there are none. */
  notStoredUntil: string | null;
  /** The latest entered_at of those suppressed for their thread; null when there are none. */
  threadsNotStoredUntil: string | null;
}

/** The matches of a monitor in a batch, and what changes with them. */
export interface NumberedBatch {
  matches: NumberedMatch[];
  advance: CounterAdvance;
  /** The threads that got their match of the day, as post ids; always empty without `threadOnce`. */
  threads: string[];
}

/**
 * Numbers a monitor's accepted candidates in their order. seq has no holes, and times never decrease along it. Matches
 * over the daily cap, and with `threadOnce` those of a thread that had one, are suppressed (delivery `skipped`, or
 * `none` without a webhook and with a digest). Candidates beyond the ceiling of suppressed matches do not become
 * matches.
 *
 * @param accepted at least one
 * @param suppressedPerDay ceiling: how many suppressed matches the monitor may store a UTC day
 */
export function numberMatches(
  counters: CounterFacts,
  accepted: readonly AcceptedCandidate[],
  suppressedPerDay: number,
): NumberedBatch {
  const { stored, overCap, overThreads, threads } = sortOut(counters, accepted, suppressedPerDay);
  const matches = numbered(counters, stored);
  const suppressed = matches.filter((match) => match.suppressed).length;
  const advance = {
    monitorId: counters.monitorId,
    lastSeq: counters.lastSeq + matches.length,
    lastMatchAt: matches.at(-1)?.createdAt ?? lastMatchAtOf(counters),
    day: counters.day,
    matches: matches.length - suppressed,
    suppressed,
    notStored: overCap.length + overThreads.length,
    notStoredUntil: latest(overCap.map(({ enteredAt }) => enteredAt)),
    threadsNotStoredUntil: latest(overThreads.map(({ enteredAt }) => enteredAt)),
  };
  return { matches, advance, threads };
}

/** A candidate that becomes a match. */
export type DecidedMatch = AcceptedCandidate &
  Pick<NumberedMatch, 'suppressed' | 'suppressedReason' | 'firstDelivery' | 'backfill'>;

/** Gives matches their numbers and times, which never decrease along the numbers. */
export function numbered(counters: CounterFacts, decided: readonly DecidedMatch[]): NumberedMatch[] {
  const createdAt = new Date(Math.max(counters.nowMs, counters.lastMatchAtMs ?? 0)).toISOString();
  const dueAt = new Date(counters.nowMs + FIRST_ATTEMPT_DELAY_MS).toISOString();
  return decided.map((match, index) => ({
    ...match,
    monitorId: counters.monitorId,
    seq: counters.lastSeq + index + 1,
    createdAt,
    nextAttemptAt: match.firstDelivery === 'pending' ? dueAt : null,
  }));
}

interface SortedOut {
  stored: DecidedMatch[];
  /** Not stored: over the daily cap and over the ceiling, or decided so on an earlier day. */
  overCap: AcceptedCandidate[];
  /** Not stored: suppressed for their thread and over the ceiling, or decided so on an earlier day. */
  overThreads: AcceptedCandidate[];
  threads: string[];
}

/** A match over the daily cap does not use up its thread, which still has its match if the cap rises that day. */
function sortOut(counters: CounterFacts, accepted: readonly AcceptedCandidate[], suppressedPerDay: number): SortedOut {
  let room = Math.max(0, dailyMatchCap(counters.pack) - counters.matchesOfDay);
  let roomForSuppressed = Math.max(0, suppressedPerDay - counters.suppressedOfDay);
  const isSingle = counters.hasWebhook && !counters.hasDigest;
  const threads = new Set<string>();
  const sorted: SortedOut = { stored: [], overCap: [], overThreads: [], threads: [] };
  for (const candidate of accepted) {
    const settled = wasNotStored(counters, candidate);
    if (settled) {
      sorted[settled].push(candidate);
      continue;
    }
    const { postId } = candidate;
    const isRepeated = counters.threadOnce && (counters.threadsOfDay.has(postId) || threads.has(postId));
    const suppressed = isRepeated || room === 0;
    if (suppressed && roomForSuppressed === 0) {
      sorted[isRepeated ? 'overThreads' : 'overCap'].push(candidate);
      continue;
    }
    if (suppressed) roomForSuppressed -= 1;
    else room -= 1;
    if (!suppressed && counters.threadOnce) threads.add(postId);
    const suppressedReason = isRepeated ? 'thread_once' : undefined;
    const firstDelivery = !isSingle ? 'none' : suppressed ? 'skipped' : 'pending';
    sorted.stored.push({ ...candidate, suppressed, suppressedReason, firstDelivery, backfill: false });
  }
  return { ...sorted, threads: [...threads] };
}

/**
 * Whether a candidate may have been left unstored before. When a batch is read again on a later day, such a candidate
 * must not become a match of that day. While the day lasts, thread_once decides the same again by itself; a thread that
 * is new may have entered a moment before another one's last candidate, so only the day's end counts.
 */
function wasNotStored(counters: CounterFacts, { enteredAt }: AcceptedCandidate): 'overCap' | 'overThreads' | undefined {
  const enteredAtMs = Date.parse(enteredAt);
  if (enteredAtMs <= (counters.notStoredUntilMs ?? -Infinity)) return 'overCap';
  const isOfEarlierDay = enteredAtMs < Date.parse(counters.day);
  if (isOfEarlierDay && enteredAtMs <= (counters.threadsNotStoredUntilMs ?? -Infinity)) return 'overThreads';
  return undefined;
}

function lastMatchAtOf({ lastMatchAtMs }: CounterFacts): string | null {
  return lastMatchAtMs === undefined ? null : new Date(lastMatchAtMs).toISOString();
}

function latest(times: readonly string[]): string | null {
  if (times.length === 0) return null;
  return new Date(times.reduce((last, time) => Math.max(last, Date.parse(time)), -Infinity)).toISOString();
}
