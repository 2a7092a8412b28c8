/**
 * What a biller does about digests and spikes, or what a deliverer does about events, in a process of its own. Its
 * argument is JSON: `EventsChildOptions`. With `killed` it is killed (SIGKILL) right before or after that commit of a
 * transaction: of the making of digests, or of the storing of an attempt's outcome.
 */
import { mailDigests, makeDueDigests } from '../../../services/biller/digests.ts';
import { findRecentSpikes } from '../../../services/biller/find-spikes.ts';
import { runJob } from '../../../services/biller/jobs.ts';
import type { Job } from '../../../services/biller/jobs.ts';
import { WebhookKeys } from '../../../services/deliverer/delivery-attempt.ts';
import { EndpointHolds } from '../../../services/deliverer/endpoint-holds.ts';
import { startEventDeliveries } from '../../../services/deliverer/start-event-deliveries.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { createSystemLookup } from '../../../shared/http/public-address.ts';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import { createMailer } from '../../../shared/mail/mailer.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';
import { killAtCommit } from './pool-killed-at-commit.ts';
import type { KillPoint } from './pool-killed-at-commit.ts';

export interface EventsChildOptions {
  role: 'biller' | 'deliverer';
  postgresUrl: string;
  clickhouseUrl: string;
  smtpUrl: string;
  secretKey: string;
  dashboardUrl: string;
  killed?: KillPoint;
}

/** Runs follow each other so fast that a test need not wait for the pauses of the service. */
const PAUSE_MS = 50;

const options = JSON.parse(process.argv[2]!) as EventsChildOptions;
const { dashboardUrl } = options;
const logger = silentLogger();
const metrics = createMetrics();
const pool = createPool({ url: options.postgresUrl, name: `${options.role}-child`, logger });
if (options.killed) killAtCommit(pool, options.killed);
const { signal } = new AbortController();
const fatal = (error: unknown): void => {
  console.error(error);
  process.exit(1);
};

function startBillerLoops(): void {
  const clickhouse = createClickhouse(options.clickhouseUrl, 'biller-child');
  const mailer = createMailer({ smtpUrl: options.smtpUrl, from: 'Forum <no-reply@example.com>', outbox: '' });
  const deps = { pool, clickhouse, mailer, dashboardUrl, metrics, logger, signal, fatal };
  const jobs: Record<string, Omit<Job, 'everyMs'>> = {
    'making digests': { lease: 'digests', run: (mayContinue) => makeDueDigests({ ...deps, mayContinue }) },
    'mailing digests': { run: () => mailDigests(deps, signal) },
    'looking for spikes': { lease: 'spikes', run: (mayContinue) => findRecentSpikes({ ...deps, mayContinue }) },
  };
  for (const [work, job] of Object.entries(jobs)) void runJob(deps, work, { ...job, everyMs: PAUSE_MS });
}

function startEvents(): void {
  startEventDeliveries({
    pool,
    egress: createEgressClient({
      allowPrivate: true,
      egressProxy: undefined,
      lookup: createSystemLookup(),
      clock: systemClock,
    }),
    keys: new WebhookKeys(createSecretBox(options.secretKey)),
    fatal,
    metrics,
    logger,
    clock: systemClock,
    monotonic: () => performance.now(),
    holds: new EndpointHolds(() => performance.now()),
    random: Math.random,
    deadlineMs: 8_000,
  });
}

if (options.role === 'biller') startBillerLoops();
else startEvents();
// This process ends when its parent ends.
process.once('disconnect', () => process.exit());
process.send!('ready');
