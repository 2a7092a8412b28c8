import type { Pool } from '../../../shared/postgres/pool.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { countWaitingNotices } from '../../../shared/stores/notices/notices.ts';
import type { Lease } from '../lease.ts';
import { findCausedNotices, findLowBalances, findRecoveries } from './find-notices.ts';

const INTERVAL_MS = 5_000;
/** All balances are looked at this often, or as often as pages of 500 accounts every 5 s allow. */
const BALANCES_MS = 10 * 60_000;
const MOST_COUNTED = 1_000;

/**
 * A round that looks for notices while this process has the lease. It costs four short statements when nothing has
 * changed, and one more for each 500 accounts whose balances it looks at.
 *
 * @returns the round, which returns the milliseconds until the next one
 */
export function createNoticeRound(
  { pool, metrics, signal }: { pool: Pool; metrics: Metrics; signal: AbortSignal },
  lease: Lease,
): () => Promise<number> {
  let position = '';
  let balancesAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (signal.aborted || !(await lease.mayContinue())) {
      metrics.noticesWaiting.remove();
      return INTERVAL_MS;
    }
    metrics.noticesWaiting.set(await countWaitingNotices(pool, MOST_COUNTED));
    await findCausedNotices(pool);
    await findRecoveries(pool);
    const now = performance.now();
    if (position === '' && now - balancesAt < BALANCES_MS) return INTERVAL_MS;
    if (position === '') balancesAt = now;
    position = (await findLowBalances(pool, position)) ?? '';
    return INTERVAL_MS;
  };
}
