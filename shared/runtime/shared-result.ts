import { performance } from 'node:perf_hooks';

/**
 * Shares the result of some work among callers, so that it is not repeated for each: callers get the run under way, or
 * its result for `freshMs` after it ended. A failure rejects the callers that wait for it and is not kept.
 *
 * @param freshMs milliseconds
 * @param clock monotonic, in milliseconds
 */
export function sharedResult<T>(
  work: () => Promise<T>,
  freshMs: number,
  clock: () => number = () => performance.now(),
): () => Promise<T> {
  let running: Promise<T> | undefined;
  let last: { result: T; endedAt: number } | undefined;
  const run = async (): Promise<T> => {
    try {
      // Deferred, so that work that throws synchronously does so after `running` is set.
      const result = await Promise.resolve().then(work);
      last = { result, endedAt: clock() };
      return result;
    } finally {
      running = undefined;
    }
  };
  return () => {
    if (last !== undefined && clock() - last.endedAt < freshMs) return Promise.resolve(last.result);
    running ??= run();
    return running;
  };
}
