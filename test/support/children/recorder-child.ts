/**
 * A recorder in a process of its own. Its argument is JSON: {brokers, prefix, postgresUrl, killedAfter}. With
 * `killedAfter` it is killed (SIGKILL) right after that commit, before it can publish a match or commit an offset.
 * SIGTERM stops it in order.
 */
import { startRecorder } from '../../../services/recorder/start-recorder.ts';
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
}

const { brokers, prefix, postgresUrl, killedAfter } = JSON.parse(process.argv[2]!) as RecorderChildOptions;
const logger = silentLogger();
const pool = createPool({ url: postgresUrl, name: 'recorder-child', logger });

if (killedAfter !== undefined) killAtCommit(pool, { commit: killedAfter, moment: 'after' });

const kafka = createKafka({ brokers: brokers.split(','), clientId: 'recorder-child', logger });
const metrics = createMetrics();
const recorder = await startRecorder({
  kafka,
  prefix,
  publisher: await createPublisher({ kafka, prefix, metrics, logger }),
  pool,
  toleranceMs: 0,
  metrics,
  logger,
  fatal: (error) => {
    console.error(error);
    process.exit(1);
  },
});

process.once('SIGTERM', () => {
  void recorder.stop().finally(() => process.exit(0));
});
