import { parseMatcherCommit } from '../../schemas/messages/monitor-match.ts';
import { FORUM_COMMENTS, FORUM_POSTS, matcherGroup, MONITOR_CANDIDATES } from '../../schemas/messages/topics.ts';
import { noteLostRecords } from '../../shared/crawl/lost-records.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { OutgoingRecord, Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import { WHOLE } from '../../shared/rules/identifiers.ts';
import type { MonitorShard } from '../../shared/rules/identifiers.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { CooperativeYield } from '../../shared/runtime/clock.ts';
import { Lifecycle } from '../../shared/runtime/lifecycle.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import type { Tracing } from '../../shared/runtime/tracing.ts';
import { ActiveMonitors } from './active-monitors.ts';
import { ChangeListener } from './change-listener.ts';
import { ItemMatcher } from './item-matcher.ts';
import { MonitorChanges } from './monitor-changes.ts';
import { RecentItems } from './recent-items.ts';

export interface MatcherDeps {
  kafka: KafkaConnection;
  publisher: Publisher;
  prefix: string;
  /** The monitors that this process holds, as do the other processes of its consumer group; default: all. */
  shard?: MonitorShard;
  pool: Pool;
  postgresUrl: string;
  /** τ: how far this installation's clocks may differ from the broker's, in milliseconds; 0 with embedded engines. */
  toleranceMs: number;
  metrics: Metrics;
  logger: Logger;
  fatal: (error: Error) => void;
  tracing?: Tracing | undefined;
  /** Clock of the change listener, in milliseconds; default: a monotonic one. */
  clock?: Clock;
}

const GAUGES_EVERY_MS = 5_000;
/** So that their waits for the broker overlap: a late answer costs time once, not once per partition. */
const CONCURRENT_PARTITIONS = 4;

/**
 * Matches every new post and comment against all active monitors in memory, and publishes candidates. Ready when
 * all monitors are loaded, the change listener is connected and the consumer has joined.
 */
export async function startMatcher(deps: MatcherDeps): Promise<Running & Pick<BatchConsumer, 'ready' | 'isHalted'>> {
  const { kafka, publisher, prefix, shard = WHOLE, metrics, fatal, toleranceMs } = deps;
  const logger = deps.logger.child({ service: 'matcher' });
  const parts = new Lifecycle(logger);
  const monitors = new ActiveMonitors();
  const recent = new RecentItems();
  const cooperativeYield = new CooperativeYield();
  const publish = async (candidates: readonly OutgoingRecord[]): Promise<void> => {
    await publisher.publish(MONITOR_CANDIDATES.name, candidates);
    metrics.matcherCandidates.inc(candidates.length);
  };
  const shared = { monitors, recent, publish, cooperativeYield, logger, toleranceMs };
  const changes = new MonitorChanges({ ...shared, shard, db: deps.pool, fatal });
  const matcher = new ItemMatcher({ ...shared, changes, metrics, tracing: deps.tracing });
  await changes.load();
  const group = matcherGroup(shard);

  const consumer = await startBatchConsumer({
    kafka,
    prefix,
    group,
    topics: [FORUM_POSTS.name, FORUM_COMMENTS.name],
    handle: (batch) => matcher.handle(batch),
    onAssigned: (_, assignment) => matcher.assigned(assignment),
    partitionsConcurrently: CONCURRENT_PARTITIONS,
    deadLetters: new DeadLetters({ publisher, group, metrics, logger }),
    noteLost: (lost) =>
      noteLostRecords(deps.pool, lost, {
        ...lost,
        afterMs: lost.afterMs ?? parseMatcherCommit(lost.metadata)?.at,
      }),
    fatal,
    metrics,
    logger,
  });
  let isPaused = true;
  const pause = () => {
    isPaused = true;
    consumer.pause();
    metrics.matcherPaused.set(1);
  };
  let connectionCount = 0;
  const compareAndResume = async (): Promise<void> => {
    const connection = ++connectionCount;
    await changes.compareAfterSilence();
    // The comparison does not count when its connection was lost meanwhile or replaced by another one.
    if (connection !== connectionCount || !listener.isConnected()) return;
    isPaused = false;
    consumer.resume();
    metrics.matcherPaused.set(0);
  };
  // Nothing is matched before the listener is connected and all changes since the load are applied.
  pause();
  const listener = new ChangeListener({
    postgresUrl: deps.postgresUrl,
    logger,
    clock: deps.clock ?? (() => performance.now()),
    onChange: (id) => {
      changes.markChanged(id);
    },
    onLost: pause,
    onConnected: () => void compareAndResume(),
  });
  listener.start();

  const gauges = setInterval(() => {
    metrics.matcherMonitors.set(monitors.size);
    metrics.matcherRecentItems.set(recent.size);
    metrics.matcherRecentItemBytes.set(recent.bytes);
    const evictedCount = recent.takeEvictedCount();
    if (evictedCount === 0) return;
    metrics.matcherRecentItemsEvicted.inc(evictedCount);
    logger.warn({ items: evictedCount }, 'too many recent items: new and changed monitors look back less than 30 s');
  }, GAUGES_EVERY_MS);
  parts.onStop('gauges', () => {
    clearInterval(gauges);
  });
  parts.add('changes', changes);
  parts.add('consumer', consumer);
  parts.add('listener', listener);
  return {
    ready: () => consumer.ready() && !isPaused,
    isHalted: () => consumer.isHalted(),
    async stop() {
      await parts.stop();
    },
  };
}
