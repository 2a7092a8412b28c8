import type { ForumItem } from '../../schemas/forum-item.ts';
import { forumItem } from '../../schemas/forum-item.ts';
import { startCrawler } from '../../services/crawler/start-crawler.ts';
import type { TopicRecords } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { createMetrics } from '../../shared/runtime/metrics.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { createUpstream } from '../../shared/upstream/upstream-client.ts';
import { silentLogger } from './silent-logger.ts';

/** Stands where the broker's publisher stands, and remembers what was acknowledged and when. */
export class CollectingPublisher {
  readonly items = new Map<string, ForumItem>();
  /** Milliseconds since 1970 of the first acknowledgement. */
  readonly acknowledgedAt = new Map<string, number>();
  readonly topics = new Map<string, string>();
  published = 0;
  private failures = 0;

  /** The next calls fail as when the broker is away. */
  failNext(calls: number): void {
    this.failures = calls;
  }

  async publishAll(topics: readonly TopicRecords[]): Promise<void> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new Error('the broker is away');
    }
    const now = Date.now();
    for (const { topic, records } of topics) {
      for (const { key, value } of records) {
        this.published += 1;
        if (this.items.has(key)) continue;
        this.items.set(key, forumItem.parse(JSON.parse(value.toString())));
        this.acknowledgedAt.set(key, now);
        this.topics.set(key, topic);
      }
    }
  }
}

export interface TestCrawler {
  metrics: Metrics;
  errors: Error[];
  ready: () => boolean;
  stop: () => Promise<void>;
}

export const TEST_SITE_URL = 'https://forum.example';

/** A crawler as the composition root starts it, reading the simulator at `url`. */
export async function startTestCrawler(options: {
  url: string;
  pool: Pool;
  publisher: CollectingPublisher;
  sources: string[];
}): Promise<TestCrawler> {
  const metrics = createMetrics();
  const logger = silentLogger();
  const errors: Error[] = [];
  const upstream = createUpstream({
    url: options.url,
    tokenUrl: `${options.url}/api/v1/access_token`,
    userAgent: 'test:forum-monitor:1 (by /u/test)',
    clients: [{ id: 'simulator', secret: 'simulator' }],
    clock: systemClock,
    metrics,
    logger,
  });
  const crawler = await startCrawler({
    ...options,
    upstream,
    siteUrl: TEST_SITE_URL,
    metrics,
    logger,
    clock: systemClock,
    fatal: (error) => errors.push(error),
  });
  return {
    metrics,
    errors,
    ready: () => crawler.ready(),
    async stop() {
      await crawler.stop();
      await upstream.stop();
    },
  };
}

/** The value of a counter, summed over its labels. */
export async function counted(metrics: Metrics, name: string, labels: Record<string, string> = {}): Promise<number> {
  const all = await metrics.registry.getMetricsAsJSON();
  const values = all.find((metric) => metric.name === name)?.values ?? [];
  return values
    .filter((value) =>
      Object.entries(labels).every(([label, wanted]) => (value.labels as Record<string, unknown>)[label] === wanted),
    )
    .reduce((sum, value) => sum + value.value, 0);
}
