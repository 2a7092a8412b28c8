import { TOPICS } from '../schemas/messages/topics.ts';
import { createClickhouse } from '../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../shared/clickhouse/migrate-clickhouse.ts';
import { addForumCalls, exchangeReports } from '../shared/crawl/forum-calls.ts';
import { startBudgetExchange } from '../shared/forum-client/budget-exchange.ts';
import { startCallRecorder } from '../shared/forum-client/call-counts.ts';
import type { CountedCalls } from '../shared/forum-client/call-counts.ts';
import { withSweepShares } from '../shared/forum-client/lanes.ts';
import { createUpstream } from '../shared/forum-client/upstream-client.ts';
import type { BudgetedUpstream } from '../shared/forum-client/upstream-client.ts';
import { createKafka } from '../shared/kafka/kafka-connection.ts';
import type { KafkaConnection } from '../shared/kafka/kafka-connection.ts';
import { ensureTopics, TopicsDiffer } from '../shared/kafka/topic-admin.ts';
import { opensSealed, secretBoxOf, secretKeys } from '../shared/maintenance/settings.ts';
import type { SecretKeys } from '../shared/maintenance/settings.ts';
import { migratePostgres } from '../shared/postgres/migrate-postgres.ts';
import { createPool, exportPoolUse, withQueryDeadline } from '../shared/postgres/pool.ts';
import type { Pool } from '../shared/postgres/pool.ts';
import {
  addressesOf,
  countSynchronousStandbys,
  StandbyMissing,
  whyCommitsCanBeLost,
} from '../shared/postgres/postgres-servers.ts';
import { isPostgresUnavailable } from '../shared/postgres/postgres-unavailable.ts';
import { createSteadyClock, delay } from '../shared/runtime/clock.ts';
import { ConfigError } from '../shared/runtime/config.ts';
import type { Config } from '../shared/runtime/config.ts';
import type { Lifecycle } from '../shared/runtime/lifecycle.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { createMetrics } from '../shared/runtime/metrics.ts';
import type { Metrics } from '../shared/runtime/metrics.ts';
import { OutageLog, unavailableEngine } from '../shared/runtime/outage-log.ts';
import { retry } from '../shared/runtime/retry.ts';
import type { Tracing } from '../shared/runtime/tracing.ts';

export interface ProcessDeps {
  config: Config;
  lifecycle: Lifecycle;
  logger: Logger;
  fatal: (error: unknown) => void;
  /** Whether the data directory belongs to this process and its parent; a joining process must not write to it. */
  ownsDataDir: boolean;
  signal: AbortSignal;
}

/** Clients of the engines, none of which need have answered yet. */
export interface EngineClients extends ProcessDeps {
  metrics: Metrics;
  prefix: string;
  kafka: KafkaConnection;
  pool: Pool;
  postgresUrl: string;
  clickhouse: ClickHouseClient;
  clickhouseUrl: string;
}

/** Only the archiver and comment search depend on it. */
interface ArchiveSchema {
  /** Resolves with true once the schema is up to date, or with false when the process stops before. */
  ready: Promise<boolean>;
  /** Resolves with `ready`, after the first failed attempt, or after 5 s: a start waits no longer for ClickHouse. */
  attempted: Promise<void>;
}

export interface Installation extends EngineClients {
  archiveSchema: ArchiveSchema;
  secretKey: string;
  /** Earlier keys, which open what they sealed. */
  previousKeys: readonly string[];
  tracing?: Tracing | undefined;
}

const POOL_CONNECTIONS = 30;

/** @throws ConfigError when an address is missing */
export function createEngineClients(deps: ProcessDeps): EngineClients {
  const { config, lifecycle, logger } = deps;
  const { brokers, topicPrefix: prefix, security } = config.kafka;
  const { postgresUrl, clickhouseUrl } = config;
  if (!brokers || postgresUrl === undefined || clickhouseUrl === undefined) {
    throw new ConfigError('Set KAFKA_BROKERS, DATABASE_URL and CLICKHOUSE_URL, or run npm start, which sets them.');
  }
  const pool = createPool({ url: postgresUrl, name: 'forum-monitor', logger, max: POOL_CONNECTIONS });
  lifecycle.onStop('postgres', () => pool.end());
  const clickhouse = createClickhouse(clickhouseUrl, 'forum-monitor', config.clickhouse);
  lifecycle.onStop('clickhouse', () => clickhouse.close());
  const kafka = createKafka({ brokers, security, clientId: 'forum-monitor', logger });
  const metrics = createMetrics(true);
  exportPoolUse(pool, { name: 'services', metrics });
  return { ...deps, kafka, pool, postgresUrl, clickhouse, clickhouseUrl, metrics, prefix };
}

/**
 * Waits for Postgres and Kafka, and for a standby where commits need one. Brings Postgres's schema and the topics up to
 * date; ClickHouse's schema follows in the background. @throws TopicsDiffer, or the error of a migration
 */
export async function prepareEngines(clients: EngineClients): Promise<Installation> {
  const { config, logger, signal, metrics, pool, postgresUrl, kafka, prefix } = clients;
  const { replication, partitions } = config.kafka;
  const retrying = () => ({ logger, signal, outage: new OutageLog({ work: 'start', logger, metrics }) });
  const preparePostgres = async (): Promise<SecretKeys> => {
    const untilAvailable = { ...retrying(), what: 'migrating Postgres', isRetryable: isPostgresUnavailable };
    // Before the first commit, which would wait for a missing standby without an error.
    await retry(() => checkCommits(clients), untilAvailable);
    await retry(() => migratePostgres(postgresUrl, logger, { signal }), untilAvailable);
    const keys = await retry(() => secretKeys(pool, config), untilAvailable);
    await retry(() => checkKeys(pool, keys, logger), untilAvailable);
    return keys;
  };
  const prepareTopics = () =>
    retry(
      () => ensureTopics(kafka, { prefix, embedded: config.embedded.kafka, topics: TOPICS, replication, partitions }),
      {
        ...retrying(),
        what: 'creating topics',
        isRetryable: (error) => !(error instanceof TopicsDiffer),
      },
    );
  const [keys] = await Promise.all([preparePostgres(), prepareTopics()]);
  const archiveSchema = prepareArchiveSchema(clients);
  const tracing = await startTracing(clients);
  return { ...clients, ...keys, tracing, archiveSchema };
}

const FIRST_ATTEMPT_MS = 5_000;

/** In the background, for as long as ClickHouse is unavailable. Any other error ends the process. */
function prepareArchiveSchema({ clickhouse, pool, logger, metrics, signal, fatal }: EngineClients): ArchiveSchema {
  const firstAttempt = Promise.withResolvers<undefined>();
  const migrate = async (): Promise<boolean> => {
    try {
      await migrateClickhouse(clickhouse, pool, logger, signal);
      return true;
    } finally {
      firstAttempt.resolve(undefined);
    }
  };
  const ready = retry(migrate, {
    what: 'migrating ClickHouse',
    logger,
    signal,
    outage: new OutageLog({ work: 'start', logger, metrics }),
    isRetryable: (error) => unavailableEngine(error) !== undefined,
  }).catch((error: unknown) => {
    if (!signal.aborted) fatal(error);
    return false;
  });
  return { ready, attempted: Promise.race([firstAttempt.promise, delay(FIRST_ATTEMPT_MS, signal)]) };
}

/** @throws StandbyMissing when commits must wait for a standby and there is none, also after a fail-over */
export async function checkCommits({
  pool,
  config,
  logger,
  postgresUrl,
}: Pick<EngineClients, 'pool' | 'logger' | 'postgresUrl'> & {
  config: Pick<Config, 'postgresMustBeSynchronous'>;
}): Promise<void> {
  const isRequired = config.postgresMustBeSynchronous;
  if (!isRequired && addressesOf(postgresUrl).length === 1) return;
  const why = await whyCommitsCanBeLost(pool);
  if (why === undefined) {
    if (!isRequired || (await countSynchronousStandbys(pool)) !== 0) return;
    throw new StandbyMissing('DATABASE_SYNCHRONOUS: no synchronous standby is connected, so no commit would finish');
  }
  const fault = `a failover of Postgres can lose the last commits, and match numbers can be assigned twice: ${why}`;
  if (isRequired) throw new StandbyMissing(`DATABASE_SYNCHRONOUS: ${fault}`);
  logger.warn(fault);
}

/** Logs only: reading, matching and mails work without the key, and webhooks are retried for hours. */
async function checkKeys(pool: Pool, keys: SecretKeys, logger: Logger): Promise<void> {
  if ((await opensSealed(pool, secretBoxOf(keys))) !== false) return;
  logger.error(
    'SECRET_KEY cannot open the secrets in Postgres, so no webhook can be signed. Set SECRET_KEY or SECRET_KEY_PREVIOUS to the key that sealed them.',
  );
}

/** Loads OpenTelemetry where a collector is named; elsewhere it costs neither time nor memory. */
async function startTracing(deps: { config: Config; lifecycle: Lifecycle }): Promise<Tracing | undefined> {
  const { tracing } = deps.config;
  if (tracing === undefined) return undefined;
  const { createOtlpTracing } = await import('../shared/runtime/otlp-tracing.ts');
  return deps.lifecycle.add('tracing', createOtlpTracing(tracing));
}

/** A stop waits this long for Postgres to take the last counts. */
const RECORDING_MS = 3_000;

/**
 * The forum's client of this process.
 *
 * @param options.callsForum such processes exchange what they used of the forum's budget, to stay within it together
 */
export async function connectUpstream(
  { config, postgresUrl, metrics, logger, lifecycle }: Installation,
  { callsForum }: { callsForum: boolean },
): Promise<BudgetedUpstream> {
  const { clients = [], url, tokenUrl, userAgent } = config.upstream;
  const clock = createSteadyClock();
  const shares = withSweepShares(config.upstream.shares);
  const upstream = createUpstream({ url, tokenUrl, userAgent, clients, shares, clock, metrics, logger });
  lifecycle.onStop('upstream', () => upstream.stop());
  if (!callsForum) return upstream;
  // A separate connection: budget reports must not wait for a connection of a pool that is used up.
  const db = createPool({ url: postgresUrl, name: 'forum-monitor-budget', logger, max: 1 });
  lifecycle.onStop('budget connection', () => db.end());
  const exchange = await startBudgetExchange({
    budget: upstream.budget,
    exchange: (own) => exchangeReports(db, own),
    clock,
    logger,
  });
  lifecycle.add('budget', exchange);
  const recording = withQueryDeadline(db, RECORDING_MS);
  const add = (calls: CountedCalls[]) => addForumCalls(recording, calls);
  lifecycle.add('counted calls', startCallRecorder({ counts: upstream.budget.counts, add, logger }));
  return upstream;
}
