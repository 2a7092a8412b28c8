import { Router } from 'express';
import type { ServiceStatus } from '../../../schemas/api/status.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sharedResult } from '../../../shared/runtime/single-flight.ts';
import { newestArchivedAt } from '../../../shared/stores/crawl/archived-hours.ts';
import { countDueDeliveries } from '../../../shared/stores/deliveries/due-deliveries.ts';
import type { Readiness } from '../http/health-router.ts';
import { refuseParameters } from '../http/invalid-request.ts';
import { methodNotAllowed } from '../http/route.ts';
import { readClockSkew } from '../../../shared/stores/upkeep/settings.ts';
import { statusReport } from './status-report.ts';

/** What takes longer counts as not known. */
const MEASURE_MS = 2_500;
/** Anyone may ask, so all share one report for this long. */
const FRESH_MS = 5_000;

export interface StatusDeps {
  pool: Queryable;
  clickhouse: ClickHouseClient;
  ready: () => Promise<Readiness>;
  /** Records that wait, by consumer group. */
  consumerLag: () => Promise<Record<string, number>>;
  clock: Clock;
  logger: Logger;
}

/** Reports how the pipeline does; all who ask within a few seconds share one report. */
export type StatusReporter = () => Promise<ServiceStatus>;

export function createStatusReporter(deps: StatusDeps): StatusReporter {
  return sharedResult(measurer(deps), FRESH_MS);
}

/**
 * GET /status: whether the pipeline is up to date, for status pages. 200, or 503 when a part is down. It never waits
 * for an engine that is away: that part is unknown.
 */
export function createStatusRouter(report: StatusReporter): Router {
  const router = Router();
  router.get('/status', refuseParameters, async (_request, response) => {
    const status = await report();
    response.status(status.status === 'down' ? 503 : 200).json(status);
  });
  router.all('/status', methodNotAllowed(['GET', 'HEAD']));
  return router;
}

function measurer({ pool, clickhouse, ready, consumerLag, clock, logger }: StatusDeps): () => Promise<ServiceStatus> {
  /** One measurement at a time: a hanging one is not started again before it ends. */
  const measured = <T>(what: string, measure: () => Promise<T>): (() => Promise<T | undefined>) => {
    const shared = sharedResult(measure, 0);
    return () =>
      withDeadline(shared(), MEASURE_MS, 'no answer in time').catch((error: unknown) => {
        logger.debug({ err: error, what }, 'a part of the status could not be measured');
        return undefined;
      });
  };
  const readiness = measured('services', ready);
  const newestItemAgeMs = measured('items', async () => {
    const newest = await newestArchivedAt(clickhouse, AbortSignal.timeout(MEASURE_MS));
    return newest === undefined ? null : clock() - newest;
  });
  const lag = measured('processing', consumerLag);
  const deliveries = measured('deliveries', () => countDueDeliveries(pool));
  const clocks = measured('clocks', async () => (await readClockSkew(pool)) ?? null);
  return async () => {
    const all = await Promise.all([readiness(), newestItemAgeMs(), lag(), deliveries(), clocks()]);
    const [ready, newest, waiting, due, clockSkewMs] = all;
    return statusReport(
      { readiness: ready, newestItemAgeMs: newest, lag: waiting, deliveries: due, clockSkewMs },
      clock(),
    );
  };
}
