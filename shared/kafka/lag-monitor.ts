import type { Logger } from '../runtime/logger.ts';
import type { Running } from '../runtime/lifecycle.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { delay } from '../runtime/clock.ts';
import type { KafkaConnection } from './kafka-connection.ts';
import { readConsumerLag } from './topics/topic-admin.ts';

const INTERVAL_MS = 15_000;

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
 * Exports the lag of each group per topic every 15 s. While the broker is away the metric keeps
 * its last value.
 */
export function startLagMonitor(options: {
  kafka: KafkaConnection;
  prefix: string;
  subscriptions: readonly Subscription[];
  metrics: Metrics;
  logger: Logger;
}): Running {
  const { kafka, prefix, subscriptions, metrics, logger } = options;
  const stopping = new AbortController();
  const measure = () =>
    kafka.withAdmin(async (admin) => {
      for (const { group, topics } of subscriptions) {
        const lags = await readConsumerLag(admin, { prefix, group, topics });
        for (const topic of topics) {
          const sum = lags.reduce((total, one) => (one.topic === topic ? total + one.lag : total), 0);
          metrics.kafkaLag.set({ topic, group }, sum);
        }
      }
    });
  const run = async () => {
    while (!stopping.signal.aborted) {
      await measure().catch((error: unknown) => {
        logger.debug({ err: error }, 'the lag of the consumer groups could not be read');
      });
      await delay(INTERVAL_MS, stopping.signal);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
