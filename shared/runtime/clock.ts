/** Returns milliseconds since the epoch. Always an argument, so that tests set the time instead of waiting. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Resolves after `ms` milliseconds, or without an error as soon as the signal aborts. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/**
 * Until when something waits, by a clock that may be set back. What was planned before then comes after what was left
 * of the wait when it was last asked for, and not only when the clock shows that time again. All in milliseconds.
 */
export class PlannedTime {
  private at = Number.NEGATIVE_INFINITY;
  private lastNow = Number.NEGATIVE_INFINITY;

  /** How long it is until then; negative when it has passed. */
  waitMs(now: number): number {
    this.follow(now);
    return this.at - now;
  }

  set(now: number, waitMs: number): void {
    this.follow(now);
    this.at = now + waitMs;
  }

  /** Like `set`, but never shortens the wait. */
  extend(now: number, waitMs: number): void {
    this.follow(now);
    this.at = Math.max(this.at, now + waitMs);
  }

  /** Nothing waits any more. */
  clear(): void {
    this.at = Number.NEGATIVE_INFINITY;
  }

  private follow(now: number): void {
    if (now < this.lastNow) this.at -= this.lastNow - now;
    this.lastNow = now;
  }
}
