import { health, readiness, serviceStatus } from '../../../schemas/api/status.ts';
import type { PartStatus, ServiceStatus } from '../../../schemas/api/status.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { newestArchivedAt } from '../../../shared/crawl/archived-hours.ts';
import { readClockSkew } from '../../../shared/maintenance/settings.ts';
import { CLOCK_TOLERANCE_MS } from '../../../shared/matches/rules/match-decision.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { sharedResult } from '../../../shared/runtime/single-flight.ts';
import { requestLogger } from '../http/request-log.ts';
import { countDueDeliveries } from '../../../shared/deliveries/pending-deliveries.ts';
import type { DueDeliveries } from '../../../shared/deliveries/pending-deliveries.ts';
import { ok } from '../http/route.ts';
import type { PublicRoute } from '../http/route.ts';
import { exampleOf } from '../openapi/json-schemas.ts';

export interface Readiness {
  ready: boolean;
  /** For each part, whether it answers. */
  parts: Record<string, boolean>;
}

/** A probe that takes longer than this counts as a part that does not answer. */
const PROBE_MS = 5_000;
/** Anyone may ask, and each check queries the engines, so concurrent checks share one result for this long. */
const READINESS_FRESH_MS = 1_000;

/** The probes of the process, for orchestrators. */
export function healthRoutes(ready: () => Promise<Readiness>, logger: Logger): PublicRoute[] {
  const shared = sharedResult(
    () => withDeadline(ready(), PROBE_MS, 'the parts did not report in time whether they are ready'),
    READINESS_FRESH_MS,
  );
  return [
    {
      method: 'get',
      path: '/healthz',
      operationId: 'getHealth',
      tag: 'Operations',
      summary: 'Check that the process is running',
      description: 'Answers with 200 while the process is running, whatever state its parts are in.',
      responses: [ok('The process is running.', health)],
      errors: ['invalid_request'],
      respond(_request, response) {
        response.json({ status: 'ok' });
      },
    },
    {
      method: 'get',
      path: '/readyz',
      operationId: 'getReadiness',
      tag: 'Operations',
      summary: 'Check that the service is ready',
      description:
        'Lists each part of the service by name: true when it responds. The status is 200 as long as reading, pages and webhooks work; without ClickHouse, only comment search and the archive are unavailable. A process that runs only the API sends no webhooks, so it is ready without Kafka.',
      responses: [
        ok('All required parts respond.', readiness),
        {
          status: 503,
          description: 'Some required parts do not respond, or their state is unknown.',
          content: [
            { schema: readiness, examples: { waiting: { ready: false, parts: { postgres: true, kafka: false } } } },
          ],
        },
      ],
      errors: ['invalid_request'],
      async respond(_request, response) {
        let found: Readiness;
        try {
          found = await shared();
        } catch (error) {
          requestLogger(logger, response).warn({ err: error }, 'could not determine whether the service is ready');
          found = { ready: false, parts: {} };
        }
        response.status(found.ready ? 200 : 503).json(found);
      },
    },
  ];
}

/** What takes longer counts as not known. */
const MEASURE_MS = 2_500;
/** Anyone may ask, so all share one report for this long. */
const STATUS_FRESH_MS = 5_000;

interface StatusDeps {
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
  return sharedResult(measurer(deps), STATUS_FRESH_MS);
}

/** Whether the pipeline is up to date. It never waits for an unavailable engine: that part is unknown. */
export function statusRoute(report: StatusReporter): PublicRoute {
  const up = exampleOf(serviceStatus);
  const items = { status: 'down', message: 'The newest item was seen 612 s ago.', newest_age_seconds: 612 };
  const down = { ...up, status: 'down', parts: { ...up.parts, items } };
  return {
    method: 'get',
    path: '/status',
    operationId: 'getStatus',
    tag: 'Operations',
    summary: 'Check that the pipeline is up to date',
    description:
      'For status pages. Reports the age of the newest item, the backlog of each stage, the webhook deliveries that are due, and the clock difference, measured at most every 5 s. A part that does not respond in time is `unknown`. The service is `down` when any part is `down`, and `degraded` when any part is not `ok`.',
    responses: [
      ok('No part is down.', serviceStatus),
      {
        status: 503,
        description: 'A part is down.',
        content: [{ schema: serviceStatus, examples: { down } }],
      },
    ],
    errors: ['invalid_request'],
    async respond(_request, response) {
      const status = await report();
      response.status(status.status === 'down' ? 503 : 200).json(status);
    },
  };
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

/** What was measured; undefined where it could not be. */
export interface Measurements {
  /** Whether the service works, and which parts answer. */
  readiness: { ready: boolean; parts: Record<string, boolean> } | undefined;
  /** Milliseconds since the newest archived item of the forum was first seen; null: none in the last day. */
  newestItemAgeMs: number | null | undefined;
  /** Records that wait, by the stage that reads them. */
  lag: Record<string, number> | undefined;
  deliveries: DueDeliveries | undefined;
  /** By how many milliseconds the clocks of the engines differ; null: not compared in the last minutes. */
  clockSkewMs: number | null | undefined;
}

type Parts = ServiceStatus['parts'];

/** Items older than this are not up to date: a forum is never quiet for so long. */
const ITEM_AGE_MS = { degraded: 60_000, down: 600_000 };
/** At the average rate of a large forum a minute and an hour of its items. */
const LAG = { degraded: 10_000, down: 500_000 };
/** Only while no delivery is under way: one slow endpoint says nothing about the service. */
const DUE_MS = { degraded: 60_000, down: 900_000 };

/** @param now when it was measured, in milliseconds since 1970 */
export function statusReport(measured: Measurements, now: number): ServiceStatus {
  const parts: Parts = {
    services: servicesPart(measured.readiness),
    items: itemsPart(measured.newestItemAgeMs),
    processing: processingPart(measured.lag),
    deliveries: deliveriesPart(measured.deliveries),
    clocks: clocksPart(measured.clockSkewMs),
  };
  const found = Object.values(parts).map(({ status }) => status);
  const status = found.includes('down') ? 'down' : found.every((one) => one === 'ok') ? 'ok' : 'degraded';
  return { status, checked_at: new Date(now).toISOString(), parts };
}

function servicesPart(readiness: Measurements['readiness']): Parts['services'] {
  if (readiness === undefined) return { status: 'unknown', message: 'The parts of the service could not be checked.' };
  const silent = Object.entries(readiness.parts).flatMap(([part, answers]) => (answers ? [] : [part]));
  const status: PartStatus = readiness.ready ? (silent.length === 0 ? 'ok' : 'degraded') : 'down';
  if (status === 'ok') return { status, message: 'All parts of the service are responding.' };
  return {
    status,
    message: silent.length === 0 ? 'The service is starting.' : `No response from ${silent.join(', ')}.`,
  };
}

function itemsPart(ageMs: Measurements['newestItemAgeMs']): Parts['items'] {
  if (ageMs === undefined) {
    return { status: 'unknown', message: 'The archive is not responding.', newest_age_seconds: null };
  }
  if (ageMs === null)
    return { status: 'down', message: 'No item has been seen in the last day.', newest_age_seconds: null };
  const newest = seconds(ageMs);
  return {
    status: statusOf(ageMs, ITEM_AGE_MS),
    message: `The newest item was seen ${newest} s ago.`,
    newest_age_seconds: newest,
  };
}

function processingPart(lag: Measurements['lag']): Parts['processing'] {
  if (lag === undefined) return { status: 'unknown', message: 'Kafka is not responding.', waiting_records: null };
  const [stage, most] = Object.entries(lag).reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  const status = statusOf(most, LAG);
  const message = status === 'ok' ? 'Every stage is up to date.' : `${most} records are waiting for ${stage}.`;
  return { status, message, waiting_records: lag };
}

function deliveriesPart(deliveries: Measurements['deliveries']): Parts['deliveries'] {
  if (deliveries === undefined) {
    return { status: 'unknown', message: 'The database is not responding.', due: null, oldest_due_seconds: null };
  }
  const { due, oldestMs, underWay } = deliveries;
  if (oldestMs === null) return { status: 'ok', message: 'No delivery is due.', due, oldest_due_seconds: null };
  const oldest = seconds(oldestMs);
  return {
    status: underWay > 0 ? 'ok' : statusOf(oldestMs, DUE_MS),
    message: `Deliveries due: ${due}, the oldest for ${oldest} s.`,
    due,
    oldest_due_seconds: oldest,
  };
}

function clocksPart(skewMs: Measurements['clockSkewMs']): Parts['clocks'] {
  if (skewMs === undefined)
    return { status: 'unknown', message: 'The database is not responding.', skew_seconds: null };
  if (skewMs === null) {
    return {
      status: 'ok',
      message: 'The clocks were not compared, because no item was published recently.',
      skew_seconds: null,
    };
  }
  const skew_seconds = skewMs / 1_000;
  if (Math.abs(skewMs) <= CLOCK_TOLERANCE_MS) return { status: 'ok', message: 'The clocks agree.', skew_seconds };
  return { status: 'degraded', message: `The clocks differ by ${Math.abs(skew_seconds)} s.`, skew_seconds };
}

function statusOf(value: number, limit: { degraded: number; down: number }): PartStatus {
  if (value > limit.down) return 'down';
  return value > limit.degraded ? 'degraded' : 'ok';
}

/** To a tenth. */
function seconds(ms: number): number {
  return Math.max(0, Math.round(ms / 100) / 10);
}
