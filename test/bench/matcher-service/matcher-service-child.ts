/** The matcher as the service runs it, in a separate process that measures the delay of its event loop. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startMatcher } from '../../../services/matcher/start-matcher.ts';
import { WHOLE } from '../../../shared/rules/identifiers.ts';
import type { MonitorShard } from '../../../shared/rules/identifiers.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';

export interface MatcherChildJob {
  brokers: string[];
  prefix: string;
  postgresUrl: string;
  /** Default: all monitors. */
  shard?: MonitorShard;
}

/** 'measure' is answered with 'measured' and begins the next measurement. */
export type MatcherChildOrder = 'measure' | 'stop';

/** The messages of the process. */
export type MatcherChildMessage =
  | { event: 'loaded'; ms: number; monitors: number }
  | { event: 'compared'; ms: number; monitors: number }
  | { event: 'ready' }
  | { event: 'failed'; reason: string }
  | { event: 'measured'; rss_mb: number; thread_cpu_ms: number; longest_stall_ms: number };

/** The log messages of the service that end a phase. */
const EVENTS: Record<string, 'loaded' | 'compared'> = {
  'all active monitors are loaded': 'loaded',
  'all active monitors were compared with the database': 'compared',
};

function tell(message: MatcherChildMessage): void {
  process.send!(message);
}

function tellOfLine(line: string): void {
  const { msg, ms, monitors } = JSON.parse(line) as { msg: string; ms: number; monitors: number };
  const event = EVENTS[msg];
  if (event) tell({ event, ms, monitors });
}

async function run({ brokers, prefix, postgresUrl, shard = WHOLE }: MatcherChildJob): Promise<void> {
  const logger = createLogger('debug', { write: tellOfLine });
  const metrics = createMetrics();
  const kafka = createKafka({ brokers, clientId: 'bench-matcher', logger });
  const publisher = await createPublisher({ kafka, prefix, metrics, logger });
  const pool = createPool({ url: postgresUrl, name: 'bench-matcher', logger });
  await pool.query('SELECT 1');
  const fatal = (error: Error) => tell({ event: 'failed', reason: error.message });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  let usage = process.threadCpuUsage();
  const measure = () => {
    const { user, system } = process.threadCpuUsage(usage);
    tell({
      event: 'measured',
      rss_mb: Math.round(process.memoryUsage.rss() / 2 ** 20),
      thread_cpu_ms: Math.round((user + system) / 1000),
      longest_stall_ms: Math.round(delay.max / 1e6),
    });
    delay.reset();
    usage = process.threadCpuUsage();
  };
  const starting = startMatcher({
    kafka,
    publisher,
    prefix,
    pool,
    postgresUrl,
    shard,
    toleranceMs: 0,
    metrics,
    logger,
    fatal,
  });
  process.on('message', (order: MatcherChildOrder) => {
    if (order === 'measure') measure();
    else void starting.then((matcher) => matcher.stop()).finally(() => process.disconnect());
  });
  const matcher = await starting;
  const waiting = setInterval(() => {
    if (!matcher.ready()) return;
    clearInterval(waiting);
    tell({ event: 'ready' });
  }, 10);
}

process.once('message', (job: MatcherChildJob) => {
  run(job).catch((error: unknown) => {
    tell({ event: 'failed', reason: String(error) });
  });
});
