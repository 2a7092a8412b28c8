import { createRequire } from 'node:module';

interface Runner {
  /** False once the consumer stops, or crashed and will be started again with another runner. */
  readonly running: boolean;
  /** Those that fetch from the brokers, one for each. */
  readonly fetchManager: { stop(): Promise<void> };
  fetch: (this: Runner, nodeId: string) => Promise<unknown[]>;
}

let isDone = false;

/**
 * Mends kafkajs 2.2.4, whose consumers could keep the thread busy for ever: no timer, no answer and no signal came
 * through. When the set of brokers changes, a consumer replaces its fetchers. If it stops meanwhile, the new ones begin
 * after the old ones were ended, so nobody ends them, and because the runner has stopped, each fetch returns at once.
 * Now that fetch ends all fetchers that have begun. One that begins later ends itself in the same way. No error is
 * thrown: kafkajs would count it as a failed attempt, and without one left the consumer would crash and start again
 * after it was stopped.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function endOrphanedFetchers(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
    prototype: Partial<Runner>;
  };
  const fetch = prototype.fetch;
  if (typeof fetch !== 'function') {
    throw new Error('the Runner of kafkajs has no method fetch: end-orphaned-fetchers.ts mends 2.2.4, check it again');
  }
  prototype.fetch = async function (nodeId) {
    if (this.running) return fetch.call(this, nodeId);
    // Not awaited: it waits for the fetcher that called this method.
    void this.fetchManager.stop();
    return [];
  };
  isDone = true;
}
