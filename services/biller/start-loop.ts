import { awayEngine } from '../../shared/outages/away-engine.ts';
import { OutageLog } from '../../shared/outages/outage-log.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { TopicsUnreadable } from './archive-progress.ts';

export interface LoopDeps {
  /** Name of the work in the log. */
  what: string;
  /** Does one round; returns the milliseconds to wait before the next. */
  work: () => Promise<number>;
  /** Milliseconds to wait after a round in which an engine was away. */
  retryMs: number;
  logger: Logger;
  metrics?: Metrics;
  signal: AbortSignal;
  fatal: (error: Error) => void;
}

/**
 * Repeats a job in rounds. Resolves when the signal has aborted and the current round has ended, or after `fatal`.
 */
export async function startLoop(options: LoopDeps): Promise<void> {
  const { what, work, retryMs, signal, fatal } = options;
  const outage = new OutageLog({ ...options, work: what });
  while (!signal.aborted) {
    let waitMs = retryMs;
    const endTimer = options.metrics?.roundSeconds.startTimer({ work: what });
    try {
      waitMs = await work();
      endTimer?.();
      outage.recovered();
    } catch (error) {
      if (!isEngineAway(error)) {
        fatal(error as Error);
        return;
      }
      outage.failed(error);
    }
    await delay(waitMs, signal);
  }
}

function isEngineAway(error: unknown): boolean {
  return awayEngine(error) !== undefined || error instanceof TopicsUnreadable;
}
