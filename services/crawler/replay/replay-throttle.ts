import type { Clock } from '../../../shared/runtime/clock.ts';
import { delay } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';

/** How often the lag is read. At full speed a replay publishes about 10,000 things in between. */
const CHECK_INTERVAL_MS = 1_000;

export interface ReplayThrottleDeps {
  /** Reads how many records the matcher is behind on the item topics. */
  lag: () => Promise<number>;
  /** A replay pauses above this lag and resumes at half of it. */
  maxLag: number;
  logger: Logger;
  clock: Clock;
}

/**
 * Pauses replays while the matcher is behind. Live items share its partitions and must not wait long behind a dump. If
 * the lag cannot be read, a replay pauses too, because the broker would probably not accept its items either.
 */
export class ReplayThrottle {
  private readonly options: ReplayThrottleDeps;
  private checkedAt = Number.NEGATIVE_INFINITY;
  private isBehind = false;

  constructor(options: ReplayThrottleDeps) {
    this.options = options;
  }

  /** Resolves when a replay may publish its next things, or when the signal aborts. */
  async waitUntilCaughtUp(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.checkLag();
      if (!this.isBehind) return;
      await delay(CHECK_INTERVAL_MS, signal);
    }
  }

  private async checkLag(): Promise<void> {
    const { clock, logger, maxLag } = this.options;
    const now = clock();
    if (now - this.checkedAt < CHECK_INTERVAL_MS && now >= this.checkedAt) return;
    this.checkedAt = now;
    const lag = await this.lagOrUnknown();
    const wasBehind = this.isBehind;
    this.isBehind = lag === undefined || lag > (wasBehind ? maxLag / 2 : maxLag);
    if (this.isBehind === wasBehind) return;
    if (this.isBehind) logger.info({ lag, maxLag }, 'the replay pauses until the matcher catches up');
    else logger.info({ lag }, 'the matcher has caught up; the replay resumes');
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
