import { dailyMatchCap } from '../../billing/rules/plans.ts';
import { numbered } from '../../matches/rules/match-decision.ts';
import type {
  AcceptedCandidate,
  CounterFacts,
  DecidedMatch,
  NumberedBatch,
} from '../../matches/rules/match-decision.ts';

/**
 * Numbers what a backfill found, in its order, after the monitor's existing matches. Nothing is suppressed: the daily
 * cap and `threadOnce` decide only what is delivered. Delivered matches count as matches of the day and use up their
 * threads, like live ones; all others have the delivery `none` and count nowhere.
 *
 * @param accepted new to the monitor, not muted, each once
 * @param deliver whether to send what is left of the day's cap
 * @returns `advance.matches` is the number of delivered ones
 */
export function numberBackfilled(
  counters: CounterFacts,
  accepted: readonly AcceptedCandidate[],
  deliver: boolean,
): NumberedBatch {
  const threads = new Set<string>();
  let room = deliver && counters.hasWebhook ? Math.max(0, dailyMatchCap(counters.pack) - counters.matchesOfDay) : 0;
  const takeDelivery = ({ postId }: AcceptedCandidate): boolean => {
    if (room === 0) return false;
    if (counters.threadOnce) {
      if (counters.threadsOfDay.has(postId) || threads.has(postId)) return false;
      threads.add(postId);
    }
    room -= 1;
    return true;
  };
  const decided = accepted.map((candidate): DecidedMatch => {
    const firstDelivery = takeDelivery(candidate) ? 'pending' : 'none';
    return { ...candidate, suppressed: false, suppressedReason: undefined, firstDelivery, backfill: true };
  });
  const matches = numbered(counters, decided);
  const advance = {
    monitorId: counters.monitorId,
    lastSeq: counters.lastSeq + matches.length,
    lastMatchAt: matches.at(-1)?.createdAt ?? null,
    day: counters.day,
    matches: matches.filter(({ firstDelivery }) => firstDelivery === 'pending').length,
    suppressed: 0,
    notStored: 0,
    notStoredUntil: null,
    threadsNotStoredUntil: null,
  };
  return { matches, advance, threads: [...threads] };
}

/** A run pays 1 credit for each started 100 of its matches. */
export const MATCHES_PER_CREDIT = 100;

/** The most matches of one run. */
export const MATCHES_PER_RUN = 50_000;

/** Credits that a run with this many matches has paid. */
export function backfillCredits(matches: number): number {
  return Math.ceil(matches / MATCHES_PER_CREDIT);
}

interface BackfillFunds {
  /** Matches of the run so far, and the credits that they cost. */
  matches: number;
  credits: number;
  /** The most credits that the run may cost; undefined: no limit. */
  maxCredits: number | undefined;
  /** Credits of the account now. */
  balance: number;
}

export type BackfillStop = 'stopped_limit' | 'stopped_credits' | 'stopped_balance';

/**
 * How many more matches a run may have, and in which state it ends when there are more: the reason that binds first. Of
 * equal ones it is the one that its owner can do least about.
 */
export function backfillRoom({ matches, credits, maxCredits, balance }: BackfillFunds): {
  room: number;
  stop: BackfillStop;
} {
  const limits: [stop: BackfillStop, total: number][] = [
    ['stopped_limit', MATCHES_PER_RUN],
    ['stopped_credits', (maxCredits ?? Number.POSITIVE_INFINITY) * MATCHES_PER_CREDIT],
    ['stopped_balance', (credits + balance) * MATCHES_PER_CREDIT],
  ];
  const [stop, total] = limits.reduce((least, limit) => (limit[1] < least[1] ? limit : least));
  return { room: Math.max(0, total - matches), stop };
}
