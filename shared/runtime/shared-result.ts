import { performance } from 'node:perf_hooks';

/**
 * Work whose result serves everybody who asks for it at about the same time, so that the number of askers does not
 * decide how often it is done: callers share the run under way, and its result for `freshMs` after it ended. A failure
 * goes to those who wait and is not kept.
 *
 * @param freshMs milliseconds
 * @param clock milliseconds that never go back
 */
export function sharedResult<T>(
  work: () => Promise<T>,
  freshMs: number,
  clock: () => number = () => performance.now(),
): () => Promise<T> {
  let underWay: Promise<T> | undefined;
  let last: { result: T; at: number } | undefined;
  const run = async (): Promise<T> => {
    try {
      // Later, so that work that throws at once does so after `underWay` is set.
      const result = await Promise.resolve().then(work);
      last = { result, at: clock() };
      return result;
    } finally {
      underWay = undefined;
    }
  };
  return () => {
    if (last !== undefined && clock() - last.at < freshMs) return Promise.resolve(last.result);
    underWay ??= run();
    return underWay;
  };
}
