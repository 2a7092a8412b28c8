import type { RecordedMatch } from '../../schemas/messages/recorded-match.ts';
import { dailyMatchCap } from './daily-match-cap.ts';

/**
 * The first attempt waits, so that a polled page shows the match before its webhook arrives. The hint on
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
  /**
   * The latest entered_at of a candidate that was not stored; whatever entered until then was decided on an earlier
   * day.
   */
  notStoredUntilMs: number | undefined;
  hasWebhook: boolean;
  /** Price in dollars of the account's largest pack; 0 when none. */
  pack: number;
  /** service_now(), read under the lock. */
  nowMs: number;
}

/** The fields of a candidate that its match takes over; times as in the candidate. */
export interface AcceptedCandidate {
  thingId: string;
  kind: 'post' | 'comment';
  matchedTerms: string[];
  enteredAt: string;
  firstSeenAt: string;
}

export interface NumberedMatch extends AcceptedCandidate {
  monitorId: string;
  seq: number;
  createdAt: string;
  suppressed: boolean;
  firstDelivery: RecordedMatch['first_delivery'];
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
  /** The latest entered_at of those; null when there are none. */
  notStoredUntil: string | null;
}

/**
 * Numbers a monitor's accepted candidates in their order. seq has no holes, and times never decrease along it. Matches
 * over the daily cap are suppressed (delivery `skipped`, or `none` without a webhook). Candidates beyond the ceiling of
 * suppressed matches do not become matches.
 *
 * @param accepted at least one
 * @param suppressedPerDay ceiling: how many suppressed matches the monitor may store a UTC day
 */
export function numberMatches(
  counters: CounterFacts,
  accepted: readonly AcceptedCandidate[],
  suppressedPerDay: number,
): { matches: NumberedMatch[]; advance: CounterAdvance } {
  const createdAt = new Date(Math.max(counters.nowMs, counters.lastMatchAtMs ?? 0)).toISOString();
  const dueAt = new Date(counters.nowMs + FIRST_ATTEMPT_DELAY_MS).toISOString();
  const room = Math.max(0, dailyMatchCap(counters.pack) - counters.matchesOfDay);
  const roomForSuppressed = Math.max(0, suppressedPerDay - counters.suppressedOfDay);
  // When a batch is read again on a later day, candidates that were not stored must not become matches of that day.
  const isNew = ({ enteredAt }: AcceptedCandidate) => Date.parse(enteredAt) > (counters.notStoredUntilMs ?? -Infinity);
  const stored = accepted.filter(isNew).slice(0, room + roomForSuppressed);
  const matches = stored.map((candidate, index): NumberedMatch => {
    const suppressed = index >= room;
    const firstDelivery = !counters.hasWebhook ? 'none' : suppressed ? 'skipped' : 'pending';
    return {
      ...candidate,
      monitorId: counters.monitorId,
      seq: counters.lastSeq + index + 1,
      createdAt,
      suppressed,
      firstDelivery,
      nextAttemptAt: firstDelivery === 'pending' ? dueAt : null,
    };
  });
  const unsuppressed = Math.min(room, stored.length);
  const taken = new Set(stored);
  const notStored = accepted.filter((candidate) => !taken.has(candidate));
  const advance = {
    monitorId: counters.monitorId,
    lastSeq: counters.lastSeq + stored.length,
    lastMatchAt: stored.length > 0 ? createdAt : lastMatchAtOf(counters),
    day: counters.day,
    matches: unsuppressed,
    suppressed: stored.length - unsuppressed,
    notStored: notStored.length,
    notStoredUntil: latest(notStored.map(({ enteredAt }) => enteredAt)),
  };
  return { matches, advance };
}

function lastMatchAtOf({ lastMatchAtMs }: CounterFacts): string | null {
  return lastMatchAtMs === undefined ? null : new Date(lastMatchAtMs).toISOString();
}

function latest(times: readonly string[]): string | null {
  if (times.length === 0) return null;
  return new Date(times.reduce((last, time) => Math.max(last, Date.parse(time)), -Infinity)).toISOString();
}
