import { LRUCache } from 'lru-cache';
import { readCoverageOf, readCoverageTimes } from '../../../shared/crawl/crawl-coverage.ts';
import type { ReadCoverage } from '../../../shared/crawl/crawl-coverage.ts';
import { hourCoverage, lagQuantiles } from '../../../shared/crawl/rules/coverage.ts';
import type { HourCoverage, LagHistogram } from '../../../shared/crawl/rules/coverage.ts';
import type { Queryable } from '../../../shared/postgres/pool.ts';

/** Somewhat more than the longest range, about 10 KB each. */
const MAX_KEPT = 1_000;

/** Lags in seconds. */
export interface Lags {
  p50: number;
  p95: number;
  p99: number;
}

export interface MeasuredHour {
  hour: Date;
  computedAt: Date;
  /** Calls a second that the forum allowed; null when that was not known. */
  callsPerSecond: number | null;
  coverage: HourCoverage;
  /** Null without any lag. */
  lags: Lags | null;
}

interface Kept {
  computedAt: number;
  /** Undefined for an hour of a version that cannot be read. */
  measured: MeasuredHour | undefined;
}

/**
 * Reads stored hours. An answer for 31 days has 744 of them, of which only the latest change, so each is kept until it
 * is stored again: reading them all took 0.2 s of the database, and parsing them as much of the only thread.
 */
export class MeasuredHours {
  private readonly pool: Queryable;
  private readonly kept = new LRUCache<number, Kept>({ max: MAX_KEPT });

  constructor(pool: Queryable) {
    this.pool = pool;
  }

  /** The hours that begin from `from` until before `to`, as far as they are stored and can be read, oldest first. */
  async read(from: Date, to: Date): Promise<MeasuredHour[]> {
    const stored = await readCoverageTimes(this.pool, from, to);
    const found = new Map(
      stored.flatMap(({ hour, computedAt }): [number, Kept][] => {
        const kept = this.kept.get(hour.getTime());
        return kept?.computedAt === computedAt.getTime() ? [[hour.getTime(), kept]] : [];
      }),
    );
    const changed = stored.filter(({ hour }) => !found.has(hour.getTime())).map(({ hour }) => hour);
    const read = changed.length === 0 ? [] : await readCoverageOf(this.pool, changed);
    for (const row of read)
      found.set(row.hour.getTime(), { computedAt: row.computedAt.getTime(), measured: measure(row) });
    for (const [at, kept] of found) this.kept.set(at, kept);
    return stored.flatMap(({ hour }) => found.get(hour.getTime())?.measured ?? []);
  }
}

export function measure(stored: Omit<ReadCoverage, 'archivedRows'>): MeasuredHour | undefined {
  const { hour, computedAt, callsPerSecond } = stored;
  const { data: coverage } = hourCoverage.safeParse(stored.coverage);
  return coverage && { hour, computedAt, callsPerSecond, coverage, lags: lagsOf(coverage.lags) };
}

/** The quantiles that an answer shows, to three digits; null without any lag. */
export function lagsOf(histogram: LagHistogram): Lags | null {
  const quantiles = lagQuantiles(histogram, [0.5, 0.95, 0.99]);
  if (quantiles === undefined) return null;
  const [p50, p95, p99] = quantiles.map((seconds) => Number(seconds.toPrecision(3))) as [number, number, number];
  return { p50, p95, p99 };
}
