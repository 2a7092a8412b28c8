import type { Appended } from '../../shared/kafka/publisher.ts';
import { readPostgresTime, storeClockSkew } from '../../shared/maintenance/settings.ts';
import { CLOCK_TOLERANCE_MS } from '../../shared/matches/rules/match-decision.ts';
import type { Queryable } from '../../shared/postgres/pool.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';

const EVERY_MS = 60_000;
/** How soon after a start, or after a minute in which nothing was published. */
const AGAIN_MS = 1_000;

export interface ClockComparisonDeps {
  pool: Queryable;
  metrics: Pick<Metrics, 'clockSkew'>;
  logger: Logger;
}

/**
 * Compares the clocks of the brokers with that of Postgres at the start and every minute. A monitor's states have times
 * of Postgres, and are evaluated at the time at which an item was appended. No record is published for this: items show
 * the clock of each broker that leads one of their partitions. While none is published, nothing can be late.
 */
export function startClockComparison({
  pool,
  metrics,
  logger,
}: ClockComparisonDeps): Running & { appended: (appended: Appended) => void } {
  const stopping = new AbortController();
  const comparison = new ClockComparison(() => performance.now());
  const run = async (): Promise<number> => {
    const skew = await comparison.compare(() => readPostgresTime(pool));
    if (skew === undefined) return AGAIN_MS;
    metrics.clockSkew.set(skew / 1_000);
    if (Math.abs(skew) > CLOCK_TOLERANCE_MS) {
      logger.warn({ skewMs: skew }, 'the clocks of Kafka and PostgreSQL differ; see ClockSkew in the runbook');
    }
    await storeClockSkew(pool, skew);
    return EVERY_MS;
  };
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const waitMs = await run().catch((error: unknown) => {
        logger.debug({ err: error }, 'the clocks of Kafka and PostgreSQL could not be compared');
        return EVERY_MS;
      });
      await delay(waitMs, stopping.signal);
    }
  })();
  return {
    appended: (appended) => {
      comparison.add(appended);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** Bounds the brokers' clocks by the appends since the last comparison, in milliseconds of the monotonic clock. */
export class ClockComparison {
  private readonly monotonic: Clock;
  /** One broker is ahead by at least this, and one by at most `atMost`. */
  private atLeast = Number.NEGATIVE_INFINITY;
  private atMost = Number.POSITIVE_INFINITY;

  constructor(monotonic: Clock) {
    this.monotonic = monotonic;
  }

  add({ appendedAt, notBefore, notAfter }: Appended): void {
    this.atLeast = Math.max(this.atLeast, appendedAt - notAfter);
    this.atMost = Math.min(this.atMost, appendedAt + 1 - notBefore);
  }

  /**
   * Returns the least number of milliseconds by which the broker that differs most is ahead of Postgres, or behind
   * (negative); 0 where all may be equal, so a slow answer never causes a difference. Undefined without appends.
   *
   * @param readTime the time of Postgres in microseconds
   */
  async compare(readTime: () => Promise<number>): Promise<number | undefined> {
    const { atLeast, atMost } = this;
    if (atLeast === Number.NEGATIVE_INFINITY) return undefined;
    const asked = this.monotonic();
    const postgres = (await readTime()) / 1_000;
    const answered = this.monotonic();
    this.atLeast = Number.NEGATIVE_INFINITY;
    this.atMost = Number.POSITIVE_INFINITY;
    const ahead = Math.max(0, atLeast - (postgres - asked));
    const behind = Math.max(0, postgres - answered - atMost);
    return Math.round(ahead >= behind ? ahead : -behind);
  }
}
