import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';

interface Runner {
  /** False once the consumer stops, or crashed and will be started again with another runner. */
  readonly running: boolean;
  fetch: (this: Runner, nodeId: string) => Promise<unknown[]>;
}

let isDone = false;

/**
 * Mends kafkajs 2.2.4, whose consumers could keep the thread busy for ever: no timer, no answer and no signal came
 * through. When the set of brokers changes, a consumer replaces its fetchers. If it stops or crashes meanwhile, the new
 * ones begin after the old ones were ended, so nobody ends them, and because the runner has stopped, each fetch returns
 * at once. Now it fails, which ends the fetcher. The error is retriable: the retry finds that the runner has stopped,
 * and the consumer neither crashes nor starts again because of it.
 */
export function endOrphanedFetchers(): void {
  if (isDone) return;
  isDone = true;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as { prototype: Runner };
  const fetch = prototype.fetch;
  prototype.fetch = async function (nodeId) {
    if (!this.running) throw new kafkajs.KafkaJSError('the consumer has stopped', { retriable: true });
    return fetch.call(this, nodeId);
  };
}
