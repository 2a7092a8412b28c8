/**
 * A biller that is killed during its renewals, right before or after a commit. Runs as a separate process. Its argument
 * is the job as JSON.
 */
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { killAtCommit } from './pool-killed-at-commit.ts';
import type { KillPoint } from './pool-killed-at-commit.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

export interface KilledBillerJob extends KillPoint {
  postgresUrl: string;
  batchSize: number;
}

const job = JSON.parse(process.argv[2]!) as KilledBillerJob;
const logger = silentLogger();
const pool = createPool({ url: job.postgresUrl, name: 'killed-biller', logger });
const commits = killAtCommit(pool, job);

const { signal } = new AbortController();
await runRenewalPass({ pool, metrics: createMetrics(), logger, signal, batchSize: job.batchSize });
throw new Error(`it made only ${commits()} commits`);
