import { awayEngine } from '../shared/outages/away-engine.ts';
import { OutageLog } from '../shared/outages/outage-log.ts';
import type { ClickHouseClient } from '../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../shared/clickhouse/migrate-clickhouse.ts';
import type { Pool } from '../shared/postgres/pool.ts';
import { delay } from '../shared/runtime/clock.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { Metrics } from '../shared/runtime/metrics.ts';
import { retry } from '../shared/runtime/retry.ts';

/** The state of ClickHouse's schema. Only the archiver and comment search depend on it. */
export interface ArchiveSchema {
  /** Resolves with true once the schema is up to date, or with false when the process stops before. */
  ready: Promise<boolean>;
  /** Resolves with `ready`, after the first failed attempt, or after 5 s: a start waits no longer for ClickHouse. */
  attempted: Promise<void>;
}

export interface ArchiveSchemaDeps {
  logger: Logger;
  metrics: Pick<Metrics, 'engineAway' | 'engineRetries'>;
  signal: AbortSignal;
  fatal: (error: unknown) => void;
}

const FIRST_ATTEMPT_MS = 5_000;

/**
 * Brings ClickHouse's schema up to date in the background, and retries for as long as ClickHouse is away, which the
 * metrics say as they do of the other engines. Any other error ends the process.
 */
export function prepareArchiveSchema(
  { clickhouse, pool }: { clickhouse: ClickHouseClient; pool: Pool },
  { logger, metrics, signal, fatal }: ArchiveSchemaDeps,
): ArchiveSchema {
  const firstAttempt = Promise.withResolvers<undefined>();
  const migrate = async (): Promise<boolean> => {
    try {
      await migrateClickhouse(clickhouse, pool, logger, signal);
      return true;
    } finally {
      firstAttempt.resolve(undefined);
    }
  };
  const ready = retry(migrate, {
    what: 'migrating ClickHouse',
    logger,
    signal,
    outage: new OutageLog({ work: 'start', logger, metrics }),
    isRetryable: (error) => awayEngine(error) !== undefined,
  }).catch((error: unknown) => {
    if (!signal.aborted) fatal(error);
    return false;
  });
  return { ready, attempted: Promise.race([firstAttempt.promise, delay(FIRST_ATTEMPT_MS, signal)]) };
}
