import { awayEngine } from '../shared/outages/away-engine.ts';
import type { ClickHouseClient } from '../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../shared/clickhouse/migrate-clickhouse.ts';
import type { Pool } from '../shared/postgres/pool.ts';
import { delay } from '../shared/runtime/clock.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { retry } from '../shared/runtime/retry.ts';

/** How far ClickHouse's schema is, on which the archiver and comment search depend, and nothing else. */
export interface ArchiveSchema {
  /** Resolves with true when it is the newest one, with false when the process stops before. */
  ready: Promise<boolean>;
  /** Resolves when `ready` does, when the first try failed, or after 5 s: nothing waits longer for it. */
  tried: Promise<void>;
}

const LONGEST_TRY_MS = 5_000;

/**
 * Brings ClickHouse's schema up to date in the background, for as long as it takes. An error that is not an outage ends
 * the process.
 */
export function prepareArchiveSchema(
  { clickhouse, pool }: { clickhouse: ClickHouseClient; pool: Pool },
  { logger, signal, fatal }: { logger: Logger; signal: AbortSignal; fatal: (error: unknown) => void },
): ArchiveSchema {
  const firstTry = Promise.withResolvers<undefined>();
  const migrate = async (): Promise<boolean> => {
    try {
      await migrateClickhouse(clickhouse, pool, logger, signal);
      return true;
    } finally {
      firstTry.resolve(undefined);
    }
  };
  const ready = retry(migrate, {
    what: 'migrating ClickHouse',
    logger,
    signal,
    isRetryable: (error) => awayEngine(error) !== undefined,
  }).catch((error: unknown) => {
    if (!signal.aborted) fatal(error);
    return false;
  });
  return { ready, tried: Promise.race([firstTry.promise, delay(LONGEST_TRY_MS, signal)]) };
}
