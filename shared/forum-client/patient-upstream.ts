import { delay } from '../runtime/clock.ts';
import { isOwnBudgetRefusal } from './upstream-error.ts';
import type { Upstream } from './upstream-client.ts';

/** The shortest wait between two requests for a call. */
const MIN_WAIT_MS = 50;
/** The wait if the budget does not say when to ask again. */
const UNKNOWN_WAIT_MS = 1_000;

/**
 * Makes a call, and makes it again while our own budget refuses it, after the time that the budget says. A refusal is
 * no answer of the forum. Any other error, and a refusal after `maxWaitMs` of waiting or an abort, is thrown.
 */
export async function whenBudgetAllows<T>(
  make: () => Promise<T>,
  { maxWaitMs, signal }: { maxWaitMs: number; signal?: AbortSignal | undefined },
): Promise<T> {
  for (let waitedMs = 0; ;) {
    try {
      return await make();
    } catch (error) {
      if (!isOwnBudgetRefusal(error) || waitedMs >= maxWaitMs || signal?.aborted) throw error;
      const wantedMs = Math.min(error.retryAfterMs ?? UNKNOWN_WAIT_MS, maxWaitMs - waitedMs);
      const waitMs = Math.max(MIN_WAIT_MS, wantedMs);
      waitedMs += waitMs;
      await delay(waitMs, signal);
    }
  }
}

type Calls = Pick<Upstream, 'get' | 'post'>;

/**
 * Waits, after its first call, for the budget: a reading that was broken off for want of it would have to begin again,
 * or count as read what it did not read. `maxWaitMs` says how long a call may wait.
 */
export function patientUpstream(upstream: Calls, maxWaitMs: () => number): Calls {
  let hasBegun = false;
  const patiently = async (make: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> => {
    const answer = await whenBudgetAllows(make, { maxWaitMs: hasBegun ? maxWaitMs() : 0, signal });
    hasBegun = true;
    return answer;
  };
  return {
    get: (path, params, call) => patiently(() => upstream.get(path, params, call), call.signal),
    post: (path, form, call) => patiently(() => upstream.post(path, form, call), call.signal),
  };
}
