import type { RecordedMatch } from '../../schemas/recorded-match.ts';
import { dailyMatchCap } from './daily-match-cap.ts';

/** A page that is polled shows the match before its webhook is sent, and a hint on monitor.matches usually comes first. */
const FIRST_ATTEMPT_DELAY_MS = 3_000;

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
  lastMatchAt: string;
  day: string;
  matches: number;
  suppressed: number;
}

/**
 * Numbers a monitor's accepted candidates in their order: seq without holes, times that never go back along it, and those over
 * the day's cap suppressed (skipped, or none without a webhook).
 *
 * @param accepted at least one
 */
export function numberMatches(
  counters: CounterFacts,
  accepted: readonly AcceptedCandidate[],
): { matches: NumberedMatch[]; advance: CounterAdvance } {
  const createdAt = new Date(Math.max(counters.nowMs, counters.lastMatchAtMs ?? 0)).toISOString();
  const dueAt = new Date(counters.nowMs + FIRST_ATTEMPT_DELAY_MS).toISOString();
  const room = Math.max(0, dailyMatchCap(counters.pack) - counters.matchesOfDay);
  const matches = accepted.map((candidate, index): NumberedMatch => {
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
  const unsuppressed = Math.min(room, accepted.length);
  const advance = {
    monitorId: counters.monitorId,
    lastSeq: counters.lastSeq + accepted.length,
    lastMatchAt: createdAt,
    day: counters.day,
    matches: unsuppressed,
    suppressed: accepted.length - unsuppressed,
  };
  return { matches, advance };
}
