import type { Completeness } from '../../../shared/domain/coverage/estimate-completeness.ts';
import { estimateCompleteness } from '../../../shared/domain/coverage/estimate-completeness.ts';
import { Random } from '../forum-model/random.ts';
import type { Fault } from './network.ts';
import type { AuditedTime } from './virtual-crawl.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const KINDS = ['outage', 'busy', 'blocked', 'stuck', 'stale'] as const;

/** An hour as the audit saw it. Shares are from 0 to 1. */
export interface AuditedHour {
  /** Milliseconds since 1970. */
  hour: number;
  estimate: Completeness;
  threads: number;
  truth: number;
  /** Whether the 95 % interval holds the truth. */
  holds: boolean;
}

/** The audit's estimate for each hour beside the truth; hours without a reading are left out. */
export function auditByHour(audited: readonly AuditedTime[]): AuditedHour[] {
  const hours = Map.groupBy(audited, ({ start }) => Math.floor(start / HOUR_MS) * HOUR_MS);
  return [...hours].flatMap(([hour, windows]): AuditedHour[] => {
    const samples = windows.flatMap((window) => window.samples);
    const estimate = estimateCompleteness(samples);
    if (estimate === undefined) return [];
    const seen = windows.reduce((sum, { truth }) => sum + truth.seen, 0);
    const truth = seen / windows.reduce((sum, { truth: { total } }) => sum + total, 0);
    const holds = estimate.low <= truth && truth <= estimate.high;
    return [{ hour, estimate, threads: samples.length, truth, holds }];
  });
}

/**
 * Faults that hit all sources together: two in each hour, of one to ten minutes each, of random kinds, for all or half
 * of the calls.
 */
export function commonFaults(seed: number, hours: number): Fault[] {
  const random = new Random(seed);
  return Array.from({ length: 2 * hours }, (_, index): Fault => {
    const fromMs = (index * HOUR_MS) / 2 + random.next() * 20 * MINUTE_MS;
    const toMs = fromMs + (1 + 9 * random.next()) * MINUTE_MS;
    return { kind: KINDS[random.below(KINDS.length)]!, fromMs, toMs, share: random.next() < 0.5 ? 0.5 : 1 };
  });
}
