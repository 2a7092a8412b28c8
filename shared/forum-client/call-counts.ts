import { delay } from '../runtime/clock.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Lane } from './lanes.ts';

const HOUR_MS = 3_600_000;

/** The calls of a lane within an hour. */
export interface CountedCalls {
  /** The start of the hour. */
  hour: Date;
  lane: Lane;
  taken: number;
  /** How often a call was asked for and refused by the budget. */
  refused: number;
}

/** Counts the calls of this process by hour and lane, until they are drained. */
export class CallCounts {
  private readonly counts = new Map<string, CountedCalls>();

  /** `now` in milliseconds since 1970. */
  note(lane: Lane, outcome: 'taken' | 'refused', now: number): void {
    const hour = new Date(Math.floor(now / HOUR_MS) * HOUR_MS);
    this.add({ hour, lane, taken: 0, refused: 0, [outcome]: 1 });
  }

  /** Returns all counts and starts again at zero. */
  drain(): CountedCalls[] {
    const counted = [...this.counts.values()];
    this.counts.clear();
    return counted;
  }

  /** Drained counts are added again when they could not be stored. */
  add(call: CountedCalls): void {
    const key = `${call.hour.getTime()} ${call.lane}`;
    const counted = this.counts.get(key);
    if (counted === undefined) this.counts.set(key, call);
    else {
      counted.taken += call.taken;
      counted.refused += call.refused;
    }
  }
}

const INTERVAL_MS = 30_000;

interface CallRecorderDeps {
  counts: CallCounts;
  /** Adds the counts to those of the other processes. Ends by a deadline of a few seconds. */
  add: (calls: CountedCalls[]) => Promise<void>;
  logger: Logger;
  /** Default: 30 s. */
  intervalMs?: number;
}

/**
 * Stores the counted calls of this process every 30 s and at stop. While the database is unavailable they wait in
 * memory: one number an hour and lane. A statement that took effect although its answer was lost counts its calls
 * twice.
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
      for (const call of calls) counts.add(call);
      if (!isFailing) logger.warn({ err: error }, 'the calls to the forum cannot be recorded; they are kept in memory');
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
