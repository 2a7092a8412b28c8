import { isClickhouseAway } from '../../shared/clickhouse/clickhouse-away.ts';
import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { TopicsUnreadable } from './archive-progress.ts';

export interface LoopOptions {
  /** What is done, for the log. */
  what: string;
  /** One round of it; returns for how many milliseconds to wait before the next. */
  work: () => Promise<number>;
  /** How long to wait after a round in which an engine was away. */
  retryMs: number;
  logger: Logger;
  signal: AbortSignal;
  fatal: (error: Error) => void;
}

/** Does a piece of work round after round. Resolves when the signal has aborted and the round in hand is over, or after `fatal`. */
export async function startLoop({ what, work, retryMs, logger, signal, fatal }: LoopOptions): Promise<void> {
  while (!signal.aborted) {
    let waitMs = retryMs;
    try {
      waitMs = await work();
    } catch (error) {
      if (!isEngineAway(error)) {
        fatal(error as Error);
        return;
      }
      logger.warn({ err: error }, `an engine is away; ${what} goes on later`);
    }
    await delay(waitMs, signal);
  }
}

function isEngineAway(error: unknown): boolean {
  return isPostgresAway(error) || isClickhouseAway(error) || error instanceof TopicsUnreadable;
}
