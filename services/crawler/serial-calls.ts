import type { Clock } from '../../shared/runtime/clock.ts';
import { PlannedTime } from '../../shared/runtime/clock.ts';
import type { Call, Fetched, Wait } from './crawl-source.ts';

/** What one call brought, and the milliseconds that the source wants to leave before the next one. */
export interface Round extends Fetched {
  pauseMs: number;
}

/** For sources whose calls must not overlap: one call at a time, each after the pause that the last one asked for. */
export class SerialCalls {
  private readonly clock: Clock;
  private isInFlight = false;
  private readonly resume = new PlannedTime();

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Forgets the pause, for `begin`. */
  reset(): void {
    this.isInFlight = false;
    this.resume.clear();
  }

  /** The next call, which `round` makes. */
  next(now: number, round: (signal: AbortSignal) => Promise<Round>): Call | Wait {
    if (this.isInFlight) return { waitMs: Number.POSITIVE_INFINITY };
    const waitMs = this.resume.waitMs(now);
    if (waitMs > 0) return { waitMs };
    this.isInFlight = true;
    return {
      fetch: async (signal) => {
        const { pauseMs, ...fetched } = await round(signal);
        return {
          ...fetched,
          acknowledged: () => {
            this.isInFlight = false;
            this.resume.set(this.clock(), pauseMs);
            fetched.acknowledged();
          },
        };
      },
      failed: () => {
        this.isInFlight = false;
      },
    };
  }
}
