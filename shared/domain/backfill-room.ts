/** A run pays 1 credit for each started 100 of its matches. */
export const MATCHES_PER_CREDIT = 100;

/** The most matches of one run. */
export const MATCHES_PER_RUN = 50_000;

/** Credits that a run with so many matches has paid. */
export function backfillCredits(matches: number): number {
  return Math.ceil(matches / MATCHES_PER_CREDIT);
}

export interface BackfillFunds {
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
