import { createRequire } from 'node:module';

interface Connection {
  readonly requestQueue: { readonly inflight: ReadonlyMap<number, unknown> };
  readonly socket?: { destroy(): void };
  rejectRequests(error: Error): void;
}

interface Broker {
  /** The second connection is the one for fetches. */
  readonly connectionPool: { readonly pool: readonly Connection[] };
}

interface Runner {
  /** False as soon as the consumer stops. */
  readonly running: boolean;
  readonly consumerGroup: { readonly cluster: { readonly brokerPool: { readonly brokers: Record<string, Broker> } } };
  fetch: (this: Runner, nodeId: string) => Promise<unknown[]>;
  stop: (this: Runner) => Promise<void>;
}

let isDone = false;

/**
 * Mends kafkajs 2.2.4, whose consumers stopped only when the broker had answered the fetch that was under way, which
 * takes as long as it gathers records for an answer. Now a stop gives that fetch up: nothing of it was handled, so the
 * next owner of the partitions fetches the same records. A batch that is being handled is finished as before.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function endFetchesAtStop(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
    prototype: Partial<Runner>;
  };
  const { fetch, stop } = prototype;
  if (typeof fetch !== 'function' || typeof stop !== 'function') {
    throw new Error('the Runner of kafkajs has other methods: end-fetches-at-stop.ts mends 2.2.4, check it again');
  }
  prototype.fetch = async function (nodeId) {
    try {
      return await fetch.call(this, nodeId);
    } catch (error) {
      if (this.running) throw error;
      return [];
    }
  };
  prototype.stop = function () {
    const { running } = this;
    const stopped = stop.call(this);
    if (running) endFetches(this);
    return stopped;
  };
  isDone = true;
}

/** Closes the connections on which brokers owe an answer to a fetch. */
function endFetches({ consumerGroup }: Runner): void {
  for (const { connectionPool } of Object.values(consumerGroup.cluster.brokerPool.brokers)) {
    const fetching = connectionPool.pool[1];
    if (fetching === undefined || fetching.requestQueue.inflight.size === 0) continue;
    fetching.rejectRequests(new Error('the consumer stops'));
    // An answer that comes nevertheless must not be read.
    fetching.socket?.destroy();
  }
}
