/** Milliseconds since the epoch. An argument everywhere, so that tests move time instead of waiting for it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** Waits `ms` milliseconds, or until the signal aborts (then it resolves early, without an error). */
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
