import { delay } from '../../../shared/runtime/clock.ts';
import type { Upstream } from '../../../shared/upstream/upstream-client.ts';
import { UpstreamError } from '../../../shared/upstream/upstream-error.ts';

/** Times that one call is made until the budget allows it. */
const MAX_TRIES = 60;

/**
 * Waits, after its first call, for the budget: a reading that was broken off for want of it would have to begin again,
 * or count as read what it did not read.
 */
export function patientUpstream(upstream: Pick<Upstream, 'get'>): Pick<Upstream, 'get'> {
  let hasBegun = false;
  return {
    async get(path, params, call) {
      for (let tries = 1; ; tries++) {
        try {
          const answer = await upstream.get(path, params, call);
          hasBegun = true;
          return answer;
        } catch (error) {
          const isRefused = error instanceof UpstreamError && error.reason === 'own_budget';
          if (!hasBegun || !isRefused || tries === MAX_TRIES || call.signal?.aborted) throw error;
          await delay(error.retryAfterMs ?? 1_000, call.signal);
        }
      }
    },
  };
}
