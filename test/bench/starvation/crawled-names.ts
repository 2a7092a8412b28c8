import { FORUM_COMMENTS, FORUM_POSTS, TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

/** Fullnames of all posts and comments that reach Kafka. */
export class CrawledNames {
  private readonly names = new Set<string>();
  private consumer: Running | undefined;

  /** @param brokersUrl kafka://host:port */
  static async follow(brokersUrl: string, prefix: string): Promise<CrawledNames> {
    const crawled = new CrawledNames();
    const logger = silentLogger();
    const kafka = createKafka({ brokers: [brokersUrl.replace('kafka://', '')], clientId: 'bench', logger });
    await ensureTopics(kafka, { prefix, embedded: true, topics: TOPICS });
    crawled.consumer = await startBatchConsumer({
      kafka,
      prefix,
      group: 'bench',
      topics: [FORUM_COMMENTS.name, FORUM_POSTS.name],
      handle: async ({ records }) => {
        for (const { key } of records) crawled.names.add(key);
      },
      fatal: (error) => {
        throw error;
      },
      metrics: createMetrics(),
      logger,
    });
    return crawled;
  }

  /** How many of these have arrived. */
  completeness(emitted: readonly { name: string }[]): { emitted: number; seen: number; percent: number } {
    const seen = emitted.filter(({ name }) => this.names.has(name)).length;
    return { emitted: emitted.length, seen, percent: Number(((100 * seen) / Math.max(1, emitted.length)).toFixed(2)) };
  }

  async stop(): Promise<void> {
    await this.consumer?.stop();
  }
}
