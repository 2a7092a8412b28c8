import type { Clock } from '../../../shared/runtime/clock.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/** How often the lag is looked at. At full speed a replay publishes some 10,000 things in between. */
const LOOK_MS = 1_000;

export interface ReplayThrottleDeps {
  /** Records that the matcher is behind on the topics of items. */
  lag: () => Promise<number>;
  /** A replay pauses above this, and goes on below half of it. */
  mostLag: number;
  logger: Logger;
  clock: Clock;
}

/**
 * Holds replays back while the matcher is behind, so that live items, which share its partitions, never wait long
 * behind a dump. While the lag cannot be read, a replay waits as well: then the broker would not take its items either.
 */
export class ReplayThrottle {
  private readonly options: ReplayThrottleDeps;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private isBehind = false;

  constructor(options: ReplayThrottleDeps) {
    this.options = options;
  }

  /** Resolves when a replay may publish its next things, or the signal aborts. */
  async mayGoOn(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      if (!this.isBehind) return;
      await delay(LOOK_MS, signal);
    }
  }

  private async look(): Promise<void> {
    const { clock, logger, mostLag } = this.options;
    const now = clock();
    if (now - this.lookedAt < LOOK_MS && now >= this.lookedAt) return;
    this.lookedAt = now;
    const lag = await this.lagOrUnknown();
    const wasBehind = this.isBehind;
    this.isBehind = lag === undefined || lag > (wasBehind ? mostLag / 2 : mostLag);
    if (this.isBehind === wasBehind) return;
    if (this.isBehind) logger.info({ lag, mostLag }, 'replay waits for the matcher');
    else logger.info({ lag }, 'the matcher has caught up: replay goes on');
  }

  private async lagOrUnknown(): Promise<number | undefined> {
    try {
      return await this.options.lag();
    } catch (error) {
      this.options.logger.debug({ err: error }, "the matcher's lag could not be read");
      return undefined;
    }
  }
}
