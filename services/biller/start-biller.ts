import { randomUUID } from 'node:crypto';
import { isPostgresAway } from '../../shared/postgres/pool.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { releaseLease, takeLease } from '../../shared/stores/leases.ts';
import { sweepRetention } from './retention-sweep.ts';

const SWEEP_EVERY_MS = 10 * 60_000;
const LEASE = 'retention';
const LEASE_SECONDS = 60;
/** A statement may take 30 s: the lease outlasts it. */
const RENEW_AFTER_MS = 15_000;

/** Deletes what is past its retention, every ten minutes, in one process at a time. */
export function startBiller(deps: {
  pool: Pool;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
}): Running {
  const { pool, metrics, fatal } = deps;
  const logger = deps.logger.child({ service: 'biller' });
  const holder = randomUUID();
  const stopping = new AbortController();
  const { signal } = stopping;
  let takenAt = Number.NEGATIVE_INFINITY;
  const mayGoOn = async () => {
    const now = performance.now();
    if (now - takenAt < RENEW_AFTER_MS) return true;
    if (!(await takeLease(pool, { name: LEASE, holder, seconds: LEASE_SECONDS }))) return false;
    takenAt = now;
    return true;
  };

  const running = (async () => {
    while (!signal.aborted) {
      try {
        if (await mayGoOn()) await sweepRetention({ pool, metrics, signal, mayGoOn });
      } catch (error) {
        if (!isPostgresAway(error)) throw error;
        logger.warn({ err: error }, 'Postgres is away; the sweep goes on later');
      }
      await delay(SWEEP_EVERY_MS, signal);
    }
  })().catch((error: unknown) => {
    fatal(error as Error);
  });

  return {
    async stop() {
      stopping.abort();
      await running;
      // A lease that stays ends by itself.
      await releaseLease(pool, { name: LEASE, holder }).catch((error: unknown) => {
        if (!isPostgresAway(error)) throw error;
      });
    },
  };
}
