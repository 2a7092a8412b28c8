import { setImmediate } from 'node:timers/promises';

/** Returns milliseconds since the epoch. Always an argument, so that tests set the time instead of waiting. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Never runs backwards: when the system's clock is set back, it stays ahead, so that waits do not become longer. */
export function createSteadyClock(system: Clock = systemClock): Clock {
  let last = Number.NEGATIVE_INFINITY;
  let lead = 0;
  return () => {
    const now = system();
    lead = Math.max(lead, last - now);
    last = now + lead;
    return last;
  };
}

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

/** Half of the longest acceptable stall: the current piece of work, or a garbage collection, adds to it. */
const SLICE_MS = 5;

/** Cuts long computations into slices, between which the event loop runs. Those that share an object run one by one. */
export class CooperativeYield {
  private readonly sliceMs: number;
  private sliceEnds = 0;
  private queue: Promise<void> = Promise.resolve();

  constructor(sliceMs = SLICE_MS) {
    this.sliceMs = sliceMs;
  }

  /** Resolves at once while the slice lasts; otherwise after a turn of the event loop and all earlier callers. */
  async pause(): Promise<void> {
    if (performance.now() < this.sliceEnds) return;
    this.queue = this.queue.then(() => this.nextSlice());
    await this.queue;
  }

  private async nextSlice(): Promise<void> {
    await setImmediate();
    this.sliceEnds = performance.now() + this.sliceMs;
  }
}
