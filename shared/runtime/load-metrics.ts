import type { MetricFactory } from './metric-factory.ts';

/** Metrics of how busy a process is: its batches, its rounds, its connections, its open requests. */
export function loadMetrics({ gauge, histogram }: MetricFactory) {
  return {
    kafkaBatchSeconds: histogram(
      'kafka_batch_seconds',
      'Duration of one batch of a consumer group: its effect and the commit of its offset. Slow: look at the engine that it writes to.',
      ['topic', 'group'],
      [0.005, 0.025, 0.1, 0.25, 1, 5, 30],
    ),
    roundSeconds: histogram(
      'background_round_seconds',
      'Duration of a round of background work that ended. Longer than the work is worth: Postgres is too slow.',
      ['work'],
      [0.1, 1, 10, 60],
    ),
    postgresConnections: gauge(
      'postgres_pool_connections',
      'Connections of a pool by state: busy, idle, free (not opened). No free ones and queued queries: look for slow statements.',
      ['pool', 'state'],
    ),
    postgresQueue: gauge('postgres_pool_queue', 'Queries that wait for a connection of a pool.', ['pool']),
    cacheBytes: gauge(
      'cache_bytes',
      'Bytes of a cache of the reading routes in memory. Each fills up to its limit over hours, which is no leak.',
      ['cache'],
    ),
    httpOpen: gauge('http_requests_open', 'Requests that are not answered in full; streams count.', []),
    deliveriesOverdue: gauge(
      'deliveries_overdue_seconds',
      'How long the pending delivery that is due longest has been due. For minutes: no deliverer runs, or an endpoint hangs and its deliveries queue. Run: npm run admin -- deliveries pending.',
      [],
    ),
  };
}
