import { toError } from '../runtime/errors.ts';
import type { Running } from '../runtime/lifecycle.ts';
import { createMetrics } from '../runtime/metrics.ts';
import { retry } from '../runtime/retry.ts';
import { startBatchConsumer } from './batch-consumer.ts';
import type { BatchConsumer } from './batch-consumer.ts';
import type { BatchConsumerDeps } from './batch-runner.ts';
import { isKafkaUnavailable } from './kafka-unavailable.ts';
import { discardGroup } from './topic-admin.ts';

/** The group is one for this process alone, so that every process sees every key. */
export interface TopicKeyListenerDeps extends Pick<
  BatchConsumerDeps,
  'kafka' | 'prefix' | 'group' | 'topics' | 'fatal' | 'logger'
> {
  /** Called with the key of each record that arrives from now on. */
  onKey: (key: string) => void;
  /** Called when keys may have been missed: at the start and after each reconnect. */
  onGap: () => void;
}

/** A heartbeat comes twice this time after another at the latest, well within the session. */
const WAIT_MS = 3_000;

/**
 * Reports the keys of new records to a process that then reads the data elsewhere. Commits no offsets. It starts in the
 * background, so it also starts without a broker. Stopping deletes its group.
 */
export function startTopicKeyListener({ onKey, onGap, ...deps }: TopicKeyListenerDeps): Running {
  const stopping = new AbortController();
  // Reading begins at the first fetch after a join. Records appended between the two are not reported as keys.
  let isBeginning = false;
  const noteGap = (begins: boolean) => {
    isBeginning = begins;
    onGap();
  };
  let latest: Promise<BatchConsumer> | undefined;
  const start = () =>
    (latest = startBatchConsumer({
      ...deps,
      // Not exported: a group for each process would add series without end.
      metrics: createMetrics(),
      startSignal: stopping.signal,
      fromBeginning: false,
      commits: false,
      gather: { bytes: 1, ms: WAIT_MS },
      onAssigned: () => {
        noteGap(true);
        return Promise.resolve();
      },
      onFetched: () => {
        if (isBeginning) noteGap(false);
      },
      handle: ({ records }) => {
        for (const key of new Set(records.map((record) => record.key))) onKey(key);
        return Promise.resolve();
      },
    }));
  // The broker may become unavailable again between the connection and the subscription.
  retry(start, {
    what: `watching ${deps.topics.join(' and ')}`,
    logger: deps.logger,
    signal: stopping.signal,
    isRetryable: isKafkaUnavailable,
  }).catch((error: unknown) => {
    if (!stopping.signal.aborted) deps.fatal(toError(error));
  });
  return {
    async stop() {
      stopping.abort();
      const consumer = await latest?.catch(() => undefined);
      await consumer?.stop();
      if (consumer) await discardGroup(deps, deps.group);
    },
  };
}
