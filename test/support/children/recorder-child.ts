/**
 * A recorder in a process of its own. Its argument is JSON: `RecorderChildOptions`. With `killedAfter` it is killed
 * (SIGKILL) right after that commit, before it can publish a match or commit an offset; with `killedBefore` right
 * before it. SIGTERM stops it in order.
 */
import { createReadArchive, LiveLoad } from '../../../services/recorder/run-backfill.ts';
import { startBackfills } from '../../../services/recorder/start-backfills.ts';
import { startRecorder } from '../../../services/recorder/start-recorder.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { killAtCommit } from './pool-killed-at-commit.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

export interface RecorderChildOptions {
  brokers: string;
  prefix: string;
  postgresUrl: string;
  /** The number of the transaction, starting with 1. */
  killedAfter?: number;
  killedBefore?: number;
  /** Killed right after the first commit that records matches. */
  killedAfterMatches?: boolean;
  /** It works on backfills too, with leases of so many seconds. */
  backfills?: { clickhouseUrl: string; leaseSeconds: number };
}

const options = JSON.parse(process.argv[2]!) as RecorderChildOptions;
const { brokers, prefix, postgresUrl, killedAfter, killedBefore, killedAfterMatches = false } = options;
const logger = silentLogger();
const pool = createPool({ url: postgresUrl, name: 'recorder-child', logger });

if (killedAfter !== undefined) killAtCommit(pool, { commit: killedAfter, moment: 'after' });
if (killedBefore !== undefined) killAtCommit(pool, { commit: killedBefore, moment: 'before' });
if (killedAfterMatches) killAtCommit(pool, { commit: 1, moment: 'after', statement: /INSERT INTO matches\b/ });

const kafka = createKafka({ brokers: brokers.split(','), clientId: 'recorder-child', logger });
// The shortest session that the broker takes, so that the group soon notices a kill -9.
const { client } = kafka;
const consumer = client.consumer.bind(client);
client.consumer = (config) => consumer({ ...config, sessionTimeout: 6_000 });
const metrics = createMetrics();
const publisher = await createPublisher({ kafka, prefix, metrics, logger });
const liveLoad = new LiveLoad();
const deps = { liveLoad, kafka, prefix, publisher, pool, toleranceMs: 0, metrics, logger };
// First: after a kill -9 a recorder waits for up to 6 s until the group has noticed it; backfills need not.
if (options.backfills) {
  const { clickhouseUrl, leaseSeconds } = options.backfills;
  const readArchive = createReadArchive(createClickhouse(clickhouseUrl, 'recorder-child'));
  // As the service does: live matches do not wait for backfilled ones.
  const ownPublisher = await createPublisher({ kafka, prefix, metrics, logger });
  startBackfills({ ...deps, publisher: ownPublisher, readArchive, archiveReady: Promise.resolve(true), leaseSeconds });
}
const recorder = await startRecorder({
  ...deps,
  fatal: (error) => {
    console.error(error);
    process.exit(1);
  },
});

process.once('SIGTERM', () => {
  void recorder.stop().finally(() => process.exit(0));
});
