import { delay } from '../../../shared/runtime/clock.ts';
import type { Upstream } from '../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';

/** Times that one call is made until the budget allows it. */
const MAX_TRIES = 60;

type Calls = Pick<Upstream, 'get' | 'post'>;

/**
 * Waits, after its first call, for the budget: a reading that was broken off for want of it would have to begin again,
 * or count as read what it did not read.
 */
export function patientUpstream(upstream: Calls): Calls {
  let hasBegun = false;
  const patiently = async (make: () => Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> => {
    for (let tries = 1; ; tries++) {
      try {
        const answer = await make();
        hasBegun = true;
        return answer;
      } catch (error) {
        const isRefused = error instanceof UpstreamError && error.reason === 'own_budget';
        if (!hasBegun || !isRefused || tries === MAX_TRIES || signal?.aborted) throw error;
        await delay(error.retryAfterMs ?? 1_000, signal);
      }
    }
  };
  return {
    get: (path, params, call) => patiently(() => upstream.get(path, params, call), call.signal),
    post: (path, form, call) => patiently(() => upstream.post(path, form, call), call.signal),
  };
}
