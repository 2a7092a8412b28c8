/**
 * A process next to the measuring one. `api`: the API over the database, with an account that owns the monitor.
 * `writers`: a recorder that inserts at an even rate, and the sweep.
 */
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import { percentiles } from '../shared/percentiles.ts';
import { RecorderLoad } from '../recorder/recorder-load.ts';

export type MatchesPageJob =
  | { what: 'api'; databaseUrl: string; monitorId: string }
  | { what: 'writers'; databaseUrl: string; monitorIds: string[]; perSecond: number; seconds: number };

export interface ApiAddress {
  url: string;
  key: string;
}

export interface WritersOutcome {
  batch_ms: Record<string, number | null>;
  swept_rows: number;
  /** The time until the sweep had nothing left to do; null if it did not finish in time. */
  swept_in_s: number | null;
}

process.once('message', (job: MatchesPageJob) => {
  const pool = createPool({ url: job.databaseUrl, name: `bench-${job.what}`, logger: silentLogger(), max: 10 });
  const work = job.what === 'api' ? serve(pool, job.monitorId) : write(pool, job);
  void work.then((outcome) => process.send!(outcome));
});

async function serve(pool: Pool, monitorId: string): Promise<ApiAddress> {
  const api = await startTestApi(pool);
  const { accountId, apiKey } = await api.account();
  await pool.query('UPDATE monitors SET account_id = $2 WHERE id = $1', [monitorId, accountId]);
  return { url: api.url, key: apiKey };
}

async function write(pool: Pool, job: MatchesPageJob & { what: 'writers' }): Promise<WritersOutcome> {
  const metrics = createMetrics();
  const stopping = new AbortController();
  const { signal } = stopping;
  const begun = performance.now();
  let sweptIn: number | null = null;
  const sweeping = sweepRetention({ pool, metrics, signal, mayContinue: () => Promise.resolve(true) }).then(() => {
    if (!signal.aborted) sweptIn = Math.round((performance.now() - begun) / 100) / 10;
  });
  const latencies = await new RecorderLoad(pool, job.monitorIds).evenly(job.perSecond, job.seconds * 1_000);
  stopping.abort();
  await sweeping;
  const { values } = await metrics.swept.get();
  const rows = values.reduce((sum, { value }) => sum + value, 0);
  return { batch_ms: percentiles(latencies), swept_rows: rows, swept_in_s: sweptIn };
}
