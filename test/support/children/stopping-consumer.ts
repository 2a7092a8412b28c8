/**
 * Stops a consumer of kafkajs just while it replaces its fetchers, because the set of brokers has changed, and prints
 * what came of it. Where nobody ends the new fetchers, this process hangs with a busy thread and must be killed.
 *
 * Usage: node stopping-consumer.ts
 */
import { createRequire } from 'node:module';
import { setTimeout as wait } from 'node:timers/promises';

interface Runner {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);
const Runner = require('kafkajs/src/consumer/runner.js') as new (options: object) => Runner;
const silent = { namespace: () => silent, debug: () => undefined, info: () => undefined, warn: () => undefined };
let brokers = ['1'];
/** How often the brokers were asked for since they changed. */
let asked = 0;
let stopping: Promise<void> | undefined;
let crashes = 0;

const consumerGroup = {
  groupId: 'g',
  memberId: 'm',
  connect: async () => undefined,
  joinAndSync: async () => undefined,
  leave: async () => undefined,
  heartbeat: async () => undefined,
  // A fetcher asks before it fetches, and ends when it sees the change. Then it is asked for the new ones.
  getNodeIds: () => {
    if (brokers.length === 2 && ++asked === 2) stopping = runner.stop();
    return brokers;
  },
  fetch: async () => {
    await wait(20);
    brokers = ['1', '2'];
    return [];
  },
};

const runner = new Runner({
  logger: silent,
  consumerGroup,
  instrumentationEmitter: { emit: () => undefined },
  concurrency: 1,
  heartbeatInterval: 1_000,
  // A single failed attempt is a crash, so an error that ends a fetcher would show.
  retry: { initialRetryTime: 10, maxRetryTime: 20, retries: 0, factor: 0.2, multiplier: 2 },
  onCrash: () => crashes++,
});
await runner.start();
while (stopping === undefined) await wait(5);
await stopping;
console.log(JSON.stringify({ stopped: true, crashes }));
