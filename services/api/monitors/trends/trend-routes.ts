import { isArchiveAway } from '../../../../shared/clickhouse/clickhouse-away.ts';
import { Semaphore } from '../../../../shared/runtime/semaphore.ts';
import { freeWorkSlots } from '../../http/account-slots.ts';
import { engineAway } from '../../http/api-error.ts';
import type { Call, Route } from '../../http/route.ts';
import { showLatency } from './latency.ts';
import { showTimeseries } from './timeseries.ts';
import type { TrendDeps } from './trend-deps.ts';

/** An answer waits for its turn and the archive together so long, in milliseconds. */
const TIMEOUT_MS = 5_000;
const MAX_AT_ONCE = 4;

/** Asks the archive for a caller. @throws ApiError internal_error with 503 when the archive is away or busy */
export type ArchiveTurns = <T>(call: Call, ask: (signal: AbortSignal) => Promise<T>) => Promise<T>;

/**
 * Bounds what free questions to the archive cost: four at a time in a process, two an account. Nothing waits longer
 * than the timeout, whether for a turn or for an archive that does not answer.
 */
function createArchiveTurns(): ArchiveTurns {
  const ofAccounts = freeWorkSlots('figures');
  const turns = new Semaphore(MAX_AT_ONCE);
  return ({ caller, signal: gone }, ask) =>
    ofAccounts.run(caller.accountId, async () => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const signal = gone === undefined ? timeout : AbortSignal.any([gone, timeout]);
      try {
        return await turns.run('', () => ask(signal), signal);
      } catch (error) {
        if (!timeout.aborted && !isArchiveAway(error)) throw error;
        throw engineAway('The archive does not answer. Retry later.');
      }
    });
}

/** What a monitor found over time, and how fast. Free, so what they ask of the archive is bounded. */
export function trendRoutes(deps: TrendDeps): Route[] {
  const turns = createArchiveTurns();
  return [
    {
      method: 'get',
      path: '/v1/monitors/:id/timeseries',
      scope: 'monitors:read',
      readsQuery: true,
      handle: (call) => showTimeseries(deps, turns, call),
    },
    {
      method: 'get',
      path: '/v1/monitors/:id/latency',
      scope: 'monitors:read',
      readsQuery: true,
      handle: (call) => showLatency(deps, turns, call),
    },
  ];
}
