import { hourCoverage } from '../../../shared/domain/coverage/hour-coverage.ts';
import type { HourCoverage } from '../../../shared/domain/coverage/hour-coverage.ts';
import { lagQuantiles } from '../../../shared/domain/coverage/lag-histogram.ts';
import type { LagHistogram } from '../../../shared/domain/coverage/lag-histogram.ts';
import type { ReadCoverage } from '../../../shared/stores/crawl/coverage-hours.ts';

/** Somewhat more than the longest range, about 10 KB each. */
const MAX_KEPT = 1_000;

/** Lags in seconds. */
export interface Lags {
  p50: number;
  p95: number;
  p99: number;
}

/** What is known of an hour. */
export interface MeasuredHour {
  coverage: HourCoverage;
  /** Null without any lag. */
  lags: Lags | null;
}

interface Kept {
  computedAt: number;
  measured: MeasuredHour | undefined;
}

/**
 * Reads stored hours. An answer for 31 days has 744 of them, of which only the latest change, so each is kept until it
 * is stored again: without that such an answer took 0.2 s of the only thread.
 */
export class MeasuredHours {
  private readonly kept = new Map<number, Kept>();

  /** Undefined for an hour of a version that cannot be read. */
  of({ hour, computedAt, coverage }: Pick<ReadCoverage, 'hour' | 'computedAt' | 'coverage'>): MeasuredHour | undefined {
    const at = hour.getTime();
    const kept = this.kept.get(at);
    this.kept.delete(at);
    const isCurrent = kept?.computedAt === computedAt.getTime();
    const entry = isCurrent ? kept : { computedAt: computedAt.getTime(), measured: measure(coverage) };
    this.kept.set(at, entry);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return entry.measured;
  }
}

function measure(stored: unknown): MeasuredHour | undefined {
  const { data: coverage } = hourCoverage.safeParse(stored);
  return coverage && { coverage, lags: lagsOf(coverage.lags) };
}

/** The quantiles that an answer shows, to three digits; null without any lag. */
export function lagsOf(histogram: LagHistogram): Lags | null {
  const quantiles = lagQuantiles(histogram, [0.5, 0.95, 0.99]);
  if (quantiles === undefined) return null;
  const [p50, p95, p99] = quantiles.map((seconds) => Number(seconds.toPrecision(3))) as [number, number, number];
  return { p50, p95, p99 };
}
