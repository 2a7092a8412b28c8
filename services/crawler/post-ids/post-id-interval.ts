import type { Pace } from '../pace.ts';
import type { PostIdWalk } from './post-id-walk.ts';

/** The interval while there is nothing to catch up and the budget is ample. */
export const INTERVAL_MS = 1_000;
/** The interval while the budget is small: so many posts of the whole site nearly fill a call. */
const LONGEST_INTERVAL_MS = 5_000;
/** The part of the live budget that calls may take which are not needed to see every post. */
const LATENCY_SHARE = 0.08;
/** A call brings up to a hundred posts, so this part of the live budget is theirs before listings have any. */
const FIRST_SHARE = 0.25;
/** The part of the live budget that is theirs while they are behind the newest posts. */
const BEHIND_SHARE = 0.5;
/** The interval between two calls while more posts can be fetched at once. */
const BUSY_INTERVAL_MS = 100;
/** The interval while stretches are to be caught up. It limits catching up to about two calls a second. */
const CATCH_UP_INTERVAL_MS = 250;

/** Milliseconds between two calls of a walk. `source`: its name in `pace`. */
export function postIdIntervalMs(
  walk: Pick<PostIdWalk, 'isBehind' | 'isFull' | 'hasStretches'>,
  pace: Pace,
  source: string,
): number {
  const isBusy = walk.isBehind || walk.isFull;
  const quietMs = Math.min(LONGEST_INTERVAL_MS, pace.affordableMs(LATENCY_SHARE, INTERVAL_MS));
  const requestedMs = isBusy ? BUSY_INTERVAL_MS : walk.hasStretches ? CATCH_UP_INTERVAL_MS : quietMs;
  return pace.preferredMs(source, requestedMs, isBusy ? BEHIND_SHARE : FIRST_SHARE);
}
