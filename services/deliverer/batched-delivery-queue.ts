import { randomUUID } from 'node:crypto';
import type { Pool } from '../../shared/postgres/pool.ts';
import { CallBatcher } from '../../shared/runtime/call-batcher.ts';
import {
  claimDueMatches,
  claimNewMatches,
  releaseLeases,
  skipUndeliverable,
} from '../../shared/stores/deliveries/deliveries.ts';
import type { ClaimedDelivery, ClaimLease } from '../../shared/stores/deliveries/deliveries.ts';
import { readDeliveryTargets } from '../../shared/stores/deliveries/delivery-queue.ts';
import type { DeliveryTarget } from '../../shared/stores/deliveries/delivery-queue.ts';
import type { Claim, DeliveryQueue } from './dispatcher-deps.ts';

export interface BatchedQueueDeps {
  pool: Pool;
  /** Monotonic clock, milliseconds. */
  monotonic: () => number;
  leaseMs: number;
}

/**
 * The queue of pending matches in Postgres. Concurrent calls of several monitors are combined into one statement, so a
 * thousand endpoints with one match each cost a few statements and not a thousand; a single call is not delayed.
 *
 * Before: `DeliveryDispatcher` decides how many matches of a monitor to claim. After: it starts an attempt for each
 * claimed match. A claim commits a lease of `leaseMs` and uses up no attempt: after a crash the lease ends and another
 * process claims the match.
 */
export function createBatchedQueue({ pool, monotonic, leaseMs }: BatchedQueueDeps): DeliveryQueue<ClaimedDelivery> {
  const targets = new CallBatcher<string, DeliveryTarget>({
    run: (monitorIds) => readDeliveryTargets(pool, monitorIds),
  });
  const claims = <Request extends { monitorId: string }>(
    claim: (requests: readonly Request[], lease: ClaimLease) => Promise<ClaimedDelivery[]>,
  ) =>
    new CallBatcher<Request, Claim<ClaimedDelivery>>({
      async run(requests) {
        const claimedAt = monotonic();
        const claimed = await claim(requests, { token: randomUUID(), lengthMs: leaseMs });
        const byMonitor = Map.groupBy(claimed, ({ monitorId }) => monitorId);
        return requests.map(({ monitorId }) => ({ claimedAt, deliveries: byMonitor.get(monitorId) ?? [] }));
      },
    });
  const newMatches = claims<{ monitorId: string; seqs: readonly number[] }>((requests, lease) =>
    claimNewMatches(pool, requests, lease),
  );
  const dueMatches = claims<{ monitorId: string; limit: number }>((requests, lease) =>
    claimDueMatches(pool, requests, lease),
  );
  return {
    target: (monitorId) => targets.call(monitorId),
    claimNew: (monitorId, seqs) => newMatches.call({ monitorId, seqs }),
    claimDue: (monitorId, limit) => dueMatches.call({ monitorId, limit }),
    async release(deliveries) {
      const first = deliveries[0];
      if (!first) return;
      const seqs = deliveries.map(({ seq }) => seq);
      await releaseLeases(pool, first.monitorId, seqs, first.leaseToken);
    },
    skipUndeliverable: (monitorId) => skipUndeliverable(pool, monitorId),
  };
}
