import { isClickhouseUnavailable } from '../clickhouse/clickhouse-unavailable.ts';
import { isKafkaUnavailable } from '../kafka/kafka-unavailable.ts';
import { hasNoFreeConnection, isPostgresUnavailable } from '../postgres/postgres-unavailable.ts';
import { systemClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { markedEngine } from './errors.ts';
import type { EngineName } from './errors.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/**
 * The engine whose outage explains an error, so that the work can be repeated; undefined when no outage does, and the
 * error is a fault of this program.
 *
 * A network error does not name its engine: unless `markEngine` marked it, it counts as Postgres's.
 */
export function unavailableEngine(error: unknown): EngineName | undefined {
  if (isKafkaUnavailable(error)) return 'kafka';
  if (markedEngine(error) !== 'clickhouse' && isPostgresUnavailable(error)) return 'postgres';
  return isClickhouseUnavailable(error) ? 'clickhouse' : undefined;
}

export interface OutageLogDeps {
  /** The work that waits for the engine, as a metric's label: a group, a loop, a stage. */
  work: string;
  logger: Pick<Logger, 'warn' | 'info'>;
  metrics?: Pick<Metrics, 'engineUnavailable' | 'engineRetries'>;
  clock?: Clock;
}

const LOG_AGAIN_MS = 60_000;
const BEGINS = 'an engine is unavailable; the work will be retried until it is back';
const NO_CONNECTION =
  'Postgres is up but has no free connection: raise max_connections or the limit of the role or database, or run fewer processes; the work will be retried';

/**
 * Logs the outages of one piece of work, however often it fails: one line when an outage begins, one a minute while it
 * lasts, and one with its duration when the work resumes.
 */
export class OutageLog {
  private readonly options: OutageLogDeps;
  private readonly clock: Clock;
  private since: number | undefined;
  private loggedAt = 0;
  private failures = 0;
  private readonly engines = new Set<string>();

  constructor(options: OutageLogDeps) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
  }

  failed(error: unknown): void {
    const { work, logger, metrics } = this.options;
    const engine = unavailableEngine(error) ?? 'unknown';
    const now = this.clock();
    this.failures++;
    this.engines.add(engine);
    metrics?.engineRetries.inc({ engine, work });
    metrics?.engineUnavailable.set({ engine, work }, 1);
    const begins = this.since === undefined;
    this.since ??= now;
    if (!begins && now - this.loggedAt < LOG_AGAIN_MS) return;
    this.loggedAt = now;
    const fields = { err: error, engine, work, failures: this.failures, seconds: this.secondsUntil(now) };
    logger.warn(
      fields,
      hasNoFreeConnection(error) ? NO_CONNECTION : begins ? BEGINS : 'the engine is still unavailable',
    );
  }

  /** Call this after each success. */
  recovered(): void {
    if (this.since === undefined) return;
    const { work, logger, metrics } = this.options;
    const engines = [...this.engines];
    for (const engine of engines) metrics?.engineUnavailable.set({ engine, work }, 0);
    logger.info(
      { engines, work, failures: this.failures, seconds: this.secondsUntil(this.clock()) },
      'the work resumes',
    );
    this.since = undefined;
    this.failures = 0;
    this.engines.clear();
  }

  private secondsUntil(now: number): number {
    return Math.round((now - (this.since ?? now)) / 1_000);
  }
}
