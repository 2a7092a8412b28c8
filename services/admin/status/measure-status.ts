import type { Config } from '../../../shared/runtime/config.ts';
import type { EnginesCommand } from '../command.ts';
import type { Found } from './status-rows.ts';
import { REQUEST_LIMITS } from '../../../shared/postgres/pool.ts';
import type { StatusRow } from './status-rows.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createLogger } from '../../../shared/runtime/logger.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { errorMessage } from '../../../shared/runtime/errors.ts';
import { findBrokers } from '../find-engines.ts';
import { findClickhouse } from '../find-engines.ts';
import { findPostgres } from '../find-engines.ts';
import { statusRows } from './status-rows.ts';
import { withDeadline } from '../../../shared/runtime/lifecycle.ts';
import { groupsOfTopic } from '../../../schemas/messages/consumer-groups.ts';
import { DEAD_LETTER_SUFFIX, TOPICS } from '../../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { KafkaConnection } from '../../../shared/kafka/kafka-connection.ts';
import { replayGroup } from '../../../shared/kafka/stored-letters/replay-dead-letters.ts';
import { connectedGroups } from '../../../shared/kafka/topics/raise-partitions.ts';
import { readConsumerLag } from '../../../shared/kafka/topics/topic-admin.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newestArchivedAt } from '../../../shared/stores/crawl/archived-hours.ts';
import { countOpenGaps } from '../../../shared/stores/crawl/coverage-sources.ts';
import { countDueDeliveries } from '../../../shared/stores/deliveries/due-deliveries.ts';
import type { DueDeliveries } from '../../../shared/stores/deliveries/due-deliveries.ts';
import { countInstallation, countWaitingWork } from '../../../shared/stores/upkeep/installation-counts.ts';
import type { InstallationCounts, WaitingWork } from '../../../shared/stores/upkeep/installation-counts.ts';

export interface PostgresState {
  due: DueDeliveries;
  counts: InstallationCounts;
  work: WaitingWork;
  /** Gaps that are open, by the source that may have missed something. */
  gaps: { source: string; open: number }[];
}

export interface KafkaState {
  brokers: number;
  /** Records before each consumer group, in the order of the flow. */
  lags: { group: string; lag: number }[];
  /** The groups that have members. */
  connected: ReadonlySet<string>;
  /** Letters that were not replayed, by their source topic; only those that have any. */
  deadLetters: Record<string, number>;
}

export interface ClickhouseState {
  /** Milliseconds since the newest archived item was first seen; null: none in the last day. */
  newestItemAgeMs: number | null;
}

const CLICKHOUSE_MS = 5_000;

export async function measurePostgres(pool: Pool): Promise<PostgresState> {
  return {
    due: await countDueDeliveries(pool),
    counts: await countInstallation(pool),
    work: await countWaitingWork(pool),
    gaps: await countOpenGaps(pool),
  };
}

/** @param shards how many groups of matchers there are */
export async function measureKafka(kafka: KafkaConnection, prefix: string, shards: number): Promise<KafkaState> {
  const connected = new Set(await connectedGroups(kafka, prefix));
  return kafka.withAdmin(async (admin) => {
    const { brokers } = await admin.describeCluster();
    const existing = new Set(await admin.listTopics());
    const lagOf = async (group: string, topics: string[]): Promise<number> => {
      const found = topics.filter((topic) => existing.has(prefix + topic));
      if (found.length === 0) return 0;
      return (await readConsumerLag(admin, { prefix, group, topics: found })).reduce((sum, { lag }) => sum + lag, 0);
    };
    const topicsOfGroup = new Map<string, string[]>();
    for (const { name } of TOPICS) {
      for (const group of groupsOfTopic(name, shards)) {
        topicsOfGroup.set(group, [...(topicsOfGroup.get(group) ?? []), name]);
      }
    }
    const lags: KafkaState['lags'] = [];
    for (const [group, topics] of topicsOfGroup) lags.push({ group, lag: await lagOf(group, topics) });
    const deadLetters: Record<string, number> = {};
    for (const { name } of TOPICS) {
      const letters = await lagOf(replayGroup(name), [name + DEAD_LETTER_SUFFIX]);
      if (letters > 0) deadLetters[name] = letters;
    }
    return { brokers: brokers.length, lags, connected, deadLetters };
  });
}

export async function measureClickhouse(clickhouse: ClickHouseClient): Promise<ClickhouseState> {
  const newest = await newestArchivedAt(clickhouse, AbortSignal.timeout(CLICKHOUSE_MS));
  return { newestItemAgeMs: newest === undefined ? null : systemClock() - newest };
}

/** Longer than the retries of a client whose server is away. */
const MEASURE_MS = 15_000;

const STATUS: EnginesCommand = {
  name: 'status',
  summary: 'print a page about everything: servers, lags, what is due, gaps, dead letters; a server may be away',
  optionsHelp: [],
  examples: ['status', 'status --json'],
  isList: true,
  options: {},
  prepare: () => (config) => pageOf(config),
};

async function pageOf(config: Config): Promise<StatusRow[]> {
  const logger = createLogger('silent');
  const { security, topicPrefix } = config.kafka;
  const [postgresUrl, brokers, clickhouseUrl] = [findPostgres(config), findBrokers(config), findClickhouse(config)];
  const pool = createPool({ url: postgresUrl, name: 'admin', logger, max: 1, limits: REQUEST_LIMITS });
  const kafka = createKafka({ brokers, security, clientId: 'admin', logger });
  const clickhouse = createClickhouse(clickhouseUrl, 'forum-monitor admin', config.clickhouse);
  try {
    const [inPostgres, inKafka, inClickhouse] = await Promise.all([
      found(measurePostgres(pool)),
      found(measureKafka(kafka, topicPrefix, config.matcher.shards)),
      found(measureClickhouse(clickhouse)),
    ]);
    return statusRows({ postgres: inPostgres, kafka: inKafka, clickhouse: inClickhouse });
  } finally {
    await Promise.all([clickhouse.close(), pool.end()]);
  }
}

async function found<State>(measuring: Promise<State>): Promise<Found<State>> {
  try {
    return { state: await withDeadline(measuring, MEASURE_MS, 'no answer in time') };
  } catch (error) {
    return { away: errorMessage(error) || 'no connection' };
  }
}

export const COMMANDS = [STATUS];
