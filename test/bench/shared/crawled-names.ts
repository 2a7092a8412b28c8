import { FORUM_COMMENTS, FORUM_POSTS, TOPICS } from '../../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../../shared/kafka/batch-consumer.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { ensureTopics } from '../../../shared/kafka/topics/topic-admin.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

/** Fullnames of all posts and comments that reach Kafka, with the time of the first record of each. */
export class CrawledNames {
  private readonly arrivedAt = new Map<string, number>();
  /** Records of things that had arrived before. */
  repeated = 0;
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
        for (const { key, timestampMs } of records) crawled.note(key, timestampMs);
      },
      fatal: (error) => {
        throw error;
      },
      metrics: createMetrics(),
      logger,
    });
    return crawled;
  }

  /** The number of different things that have arrived. */
  get count(): number {
    return this.arrivedAt.size;
  }

  /** Which of these have not arrived. */
  missing<T extends { name: string }>(emitted: readonly T[]): T[] {
    return emitted.filter(({ name }) => !this.arrivedAt.has(name));
  }

  /** How many of these have arrived. */
  completeness(emitted: readonly { name: string }[]): { emitted: number; seen: number; percent: number } {
    const seen = emitted.length - this.missing(emitted).length;
    return { emitted: emitted.length, seen, percent: Number(((100 * seen) / Math.max(1, emitted.length)).toFixed(2)) };
  }

  /** Milliseconds from when each of these could be seen until it arrived, of those that have arrived. */
  lags(emitted: readonly { name: string; visible_at: number }[]): number[] {
    return emitted.flatMap(({ name, visible_at: visibleAt }) => {
      const arrivedAt = this.arrivedAt.get(name);
      return arrivedAt === undefined ? [] : [arrivedAt - visibleAt];
    });
  }

  private note(name: string, at: number): void {
    if (this.arrivedAt.has(name)) this.repeated += 1;
    else this.arrivedAt.set(name, at);
  }

  async stop(): Promise<void> {
    await this.consumer?.stop();
  }
}
