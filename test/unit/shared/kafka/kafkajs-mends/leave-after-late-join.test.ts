import { createRequire } from 'node:module';
import { beforeAll, expect, test } from 'vitest';
import { leaveAfterLateJoin } from '../../../../../shared/kafka/kafkajs-mends/leave-after-late-join.ts';

interface Runner {
  running: boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
}
type NewRunner = new (options: object) => Runner;

const silent = { namespace: () => silent, debug: () => undefined, info: () => undefined, warn: () => undefined };
/** As the broker knows them. */
type Step = 'connect' | 'join' | 'fetch' | 'leave' | 'disconnect' | 'crash';

beforeAll(() => {
  leaveAfterLateJoin();
});

/**
 * A runner of kafkajs, and what it did. The broker answers a connect or a join when `answer` is called.
 *
 * @param inflight whether the broker owes an answer, as kafkajs counts it
 */
function createRunner({ inflight }: { inflight: boolean }) {
  const Runner = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js') as NewRunner;
  const steps: Step[] = [];
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const ask = (step: Step) => {
    steps.push(step);
    return new Promise<void>((resolve, reject) => {
      waiting.push({ resolve, reject });
    });
  };
  const note = (step: Step) => Promise.resolve(void steps.push(step));
  const requestQueue = { inflight: { size: inflight ? 1 : 0 } };
  const consumerGroup = {
    cluster: {
      brokerPool: { brokers: { 1: { connectionPool: { pool: [{ requestQueue }] } } } },
      disconnect: () => note('disconnect'),
    },
    connect: () => ask('connect'),
    joinAndSync: () => ask('join'),
    heartbeat: () => Promise.resolve(),
    getNodeIds: () => ['1'],
    leave: () => note('leave'),
    fetch: () => note('fetch').then(() => new Promise(() => undefined)),
  };
  const runner = new Runner({
    ...{ logger: silent, consumerGroup, concurrency: 1, heartbeatInterval: 1_000 },
    instrumentationEmitter: { emit: () => undefined },
    retry: { initialRetryTime: 10, maxRetryTime: 20, retries: 0, factor: 0.2, multiplier: 2 },
    onCrash: () => note('crash'),
  });
  const answer = () => waiting.pop()?.resolve();
  const refuse = () => waiting.pop()?.reject(new Error('the connection was closed'));
  return { runner, steps, answer, refuse };
}

test('a stop waits for the answer to a join, leaves the group, and nothing is fetched', async () => {
  const { runner, steps, answer } = createRunner({ inflight: true });
  const started = runner.start();
  answer();
  await expect.poll(() => steps).toEqual(['connect', 'join']);
  let hasStopped = false;
  const stopped = runner.stop().then(() => (hasStopped = true));
  await Promise.resolve();
  expect(hasStopped).toBe(false);
  answer();
  await Promise.all([started, stopped]);
  expect(steps).toEqual(['connect', 'join', 'leave', 'disconnect']);
  expect(runner.running).toBe(false);
});

test('a join that fails after a stop is no crash, after which the consumer would begin again, and leaves what it joined', async () => {
  const { runner, steps, answer, refuse } = createRunner({ inflight: false });
  const started = runner.start();
  answer();
  await expect.poll(() => steps).toEqual(['connect', 'join']);
  await runner.stop();
  refuse();
  await started;
  expect(steps).toEqual(['connect', 'join', 'leave', 'disconnect']);
});
