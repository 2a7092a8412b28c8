/**
 * Applies payment events, and is killed right before or after a commit, and so before it can answer. Runs as a separate
 * process. Its argument is the job as JSON.
 */
import { applyEvent } from '../../../shared/billing/apply-event.ts';
import { paymentEvent } from '../../../shared/billing/stripe.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import { killAtCommit } from './pool-killed-at-commit.ts';
import type { KillPoint } from './pool-killed-at-commit.ts';

export interface KilledPaymentsJob extends KillPoint {
  postgresUrl: string;
  events: object[];
}

const job = JSON.parse(process.argv[2]!) as KilledPaymentsJob;
const logger = silentLogger();
const pool = createPool({ url: job.postgresUrl, name: 'killed-payments', logger });
const commits = killAtCommit(pool, job);

for (const event of job.events) {
  await applyEvent({ pool, metrics: createMetrics(), logger }, paymentEvent.parse(event), 'test');
}
throw new Error(`it made only ${commits()} commits`);
