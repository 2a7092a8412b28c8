import type { RecordedMatch } from '../../schemas/messages/recorded-match.ts';
import { dailyMatchCap } from './daily-match-cap.ts';

/**
 * A page that is polled shows the match before its webhook is sent, and a hint on monitor.matches usually comes first.
 */
const FIRST_ATTEMPT_DELAY_MS = 3_000;

/** Suppressed matches that a monitor may store a UTC day, unless the installation says otherwise. */
export const SUPPRESSED_PER_DAY = 10_000;

/** The monitor's counters as they are under its lock. */
export interface CounterFacts {
  monitorId: string;
  /** 0: no match yet. */
  lastSeq: number;
  lastMatchAtMs: number | undefined;
  /** UTC date (YYYY-MM-DD) that new matches belong to. */
  day: string;
  /** Unsuppressed matches of that day. */
  matchesOfDay: number;
  /** Suppressed matches of that day that are stored. */
  suppressedOfDay: number;
  /** The latest entered_at of a candidate that was not stored: what entered until then was judged by an earlier day. */
  notStoredUntilMs: number | undefined;
  hasWebhook: boolean;
  /** Price in dollars of the account's largest pack; 0: none. */
  pack: number;
  /** The service's time, read under the lock. */
  nowMs: number;
}

/** What a candidate brings into its match; times as in the candidate. */
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
  /** When the first delivery attempt is due; null when there is none to make. */
  nextAttemptAt: string | null;
}

/** What a monitor's new matches add up to. */
export interface CounterAdvance {
  monitorId: string;
  lastSeq: number;
  /** null: no match yet. */
  lastMatchAt: string | null;
  day: string;
  matches: number;
  suppressed: number;
  /** Candidates beyond the ceiling of suppressed matches: counted, and nothing else. */
  notStored: number;
  /** The latest entered_at of those; null: there is none. */
  notStoredUntil: string | null;
}

/**
 * Numbers a monitor's accepted candidates in their order: seq without holes, times that never go back along it, and
 * those over the day's cap suppressed (skipped, or none without a webhook). Those beyond the ceiling of suppressed
 * matches become no match.
 *
 * @param accepted at least one
 * @param suppressedPerDay how many suppressed matches the monitor may store a day
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
  // A batch that is read again on a later day must not turn into matches of that day what was not stored before.
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
