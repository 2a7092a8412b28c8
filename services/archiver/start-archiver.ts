import {
  DELIVERIES_ARCHIVER_GROUP,
  ITEMS_ARCHIVER_GROUP,
  MATCHES_ARCHIVER_GROUP,
} from '../../schemas/consumer-groups.ts';
import { FORUM_COMMENTS, FORUM_POSTS, MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../schemas/topics.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { findRemovedThings } from '../../shared/stores/removals.ts';
import { archiveRemovals } from './archive-removals.ts';
import { attemptRow, itemRow, matchRow } from './archive-rows.ts';
import { archiveTopic } from './archive-topic.ts';

export interface ArchiverDependencies {
  kafka: KafkaConnection;
  /** For dead letters only. */
  publisher: Publisher;
  prefix: string;
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
}

/** Copies items, matches and delivery attempts into ClickHouse, and blanks there and in Postgres what the forum removed. */
export async function startArchiver(deps: ArchiverDependencies): Promise<Running & { ready(): boolean }> {
  const parts = { ...deps, logger: deps.logger.child({ service: 'archiver' }) };
  const consumers = await Promise.all([
    archiveTopic(parts, {
      group: ITEMS_ARCHIVER_GROUP,
      topics: [FORUM_POSTS, FORUM_COMMENTS],
      table: 'items',
      toRows: async (items) => {
        const removed = await findRemovedThings(
          deps.pool,
          items.map(({ thing_id }) => thing_id),
        );
        return items.map((item) => itemRow(item, removed.has(item.thing_id)));
      },
    }),
    archiveTopic(parts, {
      group: MATCHES_ARCHIVER_GROUP,
      topics: [MONITOR_MATCHES],
      table: 'matches',
      toRows: (matches) => matches.map(matchRow),
    }),
    archiveTopic(parts, {
      group: DELIVERIES_ARCHIVER_GROUP,
      topics: [MONITOR_DELIVERIES],
      table: 'delivery_attempts',
      toRows: (attempts) => attempts.map(attemptRow),
    }),
    archiveRemovals(parts),
  ]);
  return {
    ready: () => consumers.every((consumer) => consumer.ready()),
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
