/**
 * A recorder that is killed right after the commit of its transaction, before it can publish a match or commit an
 * offset. Runs as a separate process. Its argument is JSON: {brokers, prefix, postgresUrl}.
 */
import { startRecorder } from '../../../services/recorder/start-recorder.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { killAtCommit } from './pool-killed-at-commit.ts';
import { silentLogger } from '../fixtures/silent-logger.ts';

const { brokers, prefix, postgresUrl } = JSON.parse(process.argv[2]!) as Record<
  'brokers' | 'prefix' | 'postgresUrl',
  string
>;
const logger = silentLogger();
const pool = createPool({ url: postgresUrl, name: 'killed-recorder', logger });

killAtCommit(pool, { commit: 1, moment: 'after' });

const kafka = createKafka({ brokers: brokers.split(','), clientId: 'killed-recorder', logger });
const metrics = createMetrics();
await startRecorder({
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
