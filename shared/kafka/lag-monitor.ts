import type { Logger } from '../runtime/logger.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { delay } from '../runtime/clock.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { readConsumerLag } from './topics/topic-admin.ts';

/** A consumer group and the topics that it reads, without the prefix. */
export interface Subscription {
  group: string;
  topics: readonly string[];
}

/** The records that wait for each group. Takes as long as the broker; retries for about 7 s while it is away. */
export async function readGroupLags(options: {
  kafka: KafkaConnection;
  prefix: string;
  subscriptions: readonly Subscription[];
}): Promise<Record<string, number>> {
  const { kafka, prefix, subscriptions } = options;
  return kafka.withAdmin(async (admin) => {
    const lags: Record<string, number> = {};
    for (const { group, topics } of subscriptions) {
      const partitions = await readConsumerLag(admin, { prefix, group, topics });
      lags[group] = partitions.reduce((sum, { lag }) => sum + lag, 0);
    }
    return lags;
  });
}

/**
 * Exports the lag of each group per topic every `intervalMs` (default 15 s). While the broker is away the metric keeps
 * its last value.
 */
export function startLagMonitor(options: {
  kafka: KafkaConnection;
  prefix: string;
  subscriptions: readonly Subscription[];
  metrics: Metrics;
  logger: Logger;
  intervalMs?: number;
}): Running {
  const stopping = new AbortController();
  const running = measureUntilStopped(options, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function measureUntilStopped(options: Parameters<typeof startLagMonitor>[0], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await measure(options);
    } catch (error) {
      options.logger.debug({ err: error }, 'the lag of the consumer groups could not be read');
    }
    await delay(options.intervalMs ?? 15_000, signal);
  }
}

async function measure(options: Parameters<typeof startLagMonitor>[0]): Promise<void> {
  const { kafka, prefix, metrics } = options;
  await kafka.withAdmin(async (admin) => {
    for (const { group, topics } of options.subscriptions) {
      const lags = await readConsumerLag(admin, { prefix, group, topics });
      for (const topic of topics) {
        const sum = lags.reduce((total, one) => (one.topic === topic ? total + one.lag : total), 0);
        metrics.kafkaLag.set({ topic, group }, sum);
      }
    }
  });
}
