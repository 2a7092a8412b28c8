/**
 * A biller that is killed in the middle of its renewals, right before or after a commit. Run as a process of its own; its argument
 * is the job as JSON.
 */
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { doomPool } from './pool-killed-at-commit.ts';
import type { Doom } from './pool-killed-at-commit.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

export interface DoomedBillerJob extends Doom {
  postgresUrl: string;
  batchSize: number;
}

const job = JSON.parse(process.argv[2]!) as DoomedBillerJob;
const logger = silentLogger();
const pool = createPool({ url: job.postgresUrl, name: 'doomed-biller', logger });
const commits = doomPool(pool, job);

const { signal } = new AbortController();
await runRenewalPass({ pool, metrics: createMetrics(), logger, signal, batchSize: job.batchSize });
throw new Error(`it made only ${commits()} commits`);
