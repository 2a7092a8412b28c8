import type { Upstream } from './upstream-client.ts';
import { whenBudgetAllows } from './when-budget-allows.ts';

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
