import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Makes metrics from their name, their meaning with what to do about it, and the names of their labels. */
export interface MetricFactory {
  counter: <L extends string>(name: string, help: string, labelNames: readonly L[]) => Counter<L>;
  gauge: <L extends string>(name: string, help: string, labelNames: readonly L[]) => Gauge<L>;
  /** The default buckets are seconds. */
  histogram: <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets?: number[],
  ) => Histogram<L>;
}

export function metricFactory(registers: Registry[]): MetricFactory {
  return {
    counter: (name, help, labelNames) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, labelNames) => new Gauge({ name, help, labelNames, registers }),
    histogram: (name, help, labelNames, buckets = SECONDS) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  };
}
