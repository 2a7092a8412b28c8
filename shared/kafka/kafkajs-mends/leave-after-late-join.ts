import { createRequire } from 'node:module';
import { withDeadline } from '../../runtime/lifecycle.ts';

interface Broker {
  /** The first connection is the one for everything but fetches. */
  readonly connectionPool: {
    readonly pool: readonly { readonly requestQueue: { readonly inflight: ReadonlyMap<number, unknown> } }[];
  };
}

interface Cluster {
  readonly brokerPool: { readonly brokers: Readonly<Record<string, Broker>> };
  disconnect(): Promise<void>;
}

interface Runner {
  /** True from the end of the first join until the consumer stops. */
  running: boolean;
  readonly consumerGroup: {
    readonly cluster: Cluster;
    connect(): Promise<void>;
    joinAndSync(): Promise<void>;
    leave(): Promise<void>;
  };
  onCrash(error: unknown): Promise<void>;
  scheduleFetchManager(): void;
  start: (this: Runner) => Promise<void>;
  stop: (this: Runner) => Promise<void>;
}

/** A join takes until the other members send their next heartbeats, about a second. A stop does not wait longer. */
const JOIN_MS = 3_000;

/** The first joins of consumers that have not ended, and whether they were stopped. */
const joins = new WeakMap<Runner, { isStopped: boolean; ended: Promise<void> }>();
let isDone = false;

/**
 * Mends kafkajs 2.2.4, whose consumers ignored a stop while they joined their group for the first time after a start or
 * a crash: they went on as members of the group, with their partitions, for as long as the process lived. Now a stop
 * waits for the answer of the broker to leave the group; if it takes too long, the consumer leaves later by itself.
 *
 * @throws Error when the installed kafkajs is not built like that version
 */
export function leaveAfterLateJoin(): void {
  if (isDone) return;
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as {
    prototype: Partial<Runner>;
  };
  const { start, stop } = prototype;
  if (typeof start !== 'function' || typeof stop !== 'function') {
    throw new Error('the Runner of kafkajs has other methods: leave-after-late-join.ts mends 2.2.4, check it again');
  }
  prototype.start = async function () {
    if (this.running) return;
    const join = { isStopped: false, ended: Promise.resolve() };
    joins.set(this, join);
    join.ended = joinUnlessStopped(this, join);
    try {
      await join.ended;
    } catch (error) {
      // A consumer that was stopped does not begin again.
      if (!join.isStopped) await this.onCrash(error);
      return;
    }
    if (join.isStopped) return;
    this.running = true;
    this.scheduleFetchManager();
  };
  prototype.stop = async function () {
    if (this.running) return stop.call(this);
    const join = joins.get(this);
    if (join === undefined) return;
    join.isStopped = true;
    if (!isBrokerAsked(this.consumerGroup.cluster)) return;
    await withDeadline(join.ended, JOIN_MS, 'the group is not joined yet').catch(() => undefined);
  };
  isDone = true;
}

async function joinUnlessStopped({ consumerGroup }: Runner, join: { readonly isStopped: boolean }): Promise<void> {
  try {
    await consumerGroup.connect();
    if (!join.isStopped) await consumerGroup.joinAndSync();
  } finally {
    if (join.isStopped) await leave(consumerGroup);
  }
}

/** Also after a failure: the broker may have answered the join, and something after it failed. */
async function leave(consumerGroup: Runner['consumerGroup']): Promise<void> {
  try {
    await consumerGroup.leave();
  } finally {
    // A stop that did not wait has closed the consumer's connections before these were opened.
    await consumerGroup.cluster.disconnect();
  }
}

function isBrokerAsked({ brokerPool }: Cluster): boolean {
  return Object.values(brokerPool.brokers).some(
    ({ connectionPool: { pool } }) => (pool[0]?.requestQueue.inflight.size ?? 0) > 0,
  );
}
