import { delay } from '../../runtime/clock.ts';
import type { Running } from '../../runtime/lifecycle.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CallCounts, CountedCalls } from './call-counts.ts';

const INTERVAL_MS = 30_000;

export interface CallRecorderDeps {
  counts: CallCounts;
  /** Adds the counts to those of the other processes. Ends by a deadline of a few seconds. */
  add: (calls: CountedCalls[]) => Promise<void>;
  logger: Logger;
  /** Default: 30 s. */
  intervalMs?: number;
}

/**
 * Stores the counted calls of this process every 30 s and at stop. While the database is away they wait in memory: one
 * number an hour and lane. A statement that took effect although its answer was lost counts its calls twice.
 */
export function startCallRecorder(options: CallRecorderDeps): Running {
  const { counts, add, intervalMs = INTERVAL_MS } = options;
  const logger = options.logger.child({ part: 'budget' });
  const stopping = new AbortController();
  let isFailing = false;
  const recordOnce = async (): Promise<void> => {
    const calls = counts.drain();
    if (calls.length === 0) return;
    try {
      await add(calls);
      isFailing = false;
    } catch (error) {
      counts.restore(calls);
      if (!isFailing) logger.warn({ err: error }, 'the calls to the forum cannot be recorded; they wait in memory');
      isFailing = true;
    }
  };
  const loop = async (): Promise<void> => {
    for (;;) {
      await delay(intervalMs, stopping.signal);
      await recordOnce();
      if (stopping.signal.aborted) return;
    }
  };
  const running = loop();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
