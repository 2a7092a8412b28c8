import { candidate } from '../../schemas/messages/candidate.ts';
import { RECORDER_GROUP } from '../../schemas/messages/consumer-groups.ts';
import type { RecordedMatch } from '../../schemas/messages/recorded-match.ts';
import { MONITOR_CANDIDATES, MONITOR_MATCHES } from '../../schemas/messages/topics.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchOutcome, ConsumedBatch } from '../../shared/kafka/consumed-batch.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import { parseRecords } from '../../shared/kafka/poison-message.ts';
import type { OutgoingRecord, Publisher } from '../../shared/kafka/publisher.ts';
import type { Pool } from '../../shared/postgres/pool.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { recordBatch } from './record-batch.ts';

export interface RecorderDeps {
  kafka: KafkaConnection;
  /** Of topics and consumer groups. */
  prefix: string;
  /** For matches and dead letters; takes topic names without the prefix. */
  publisher: Publisher;
  /** Needs a free connection for each partition in work. */
  pool: Pool;
  /** How far the broker's clock and Postgres's may differ, in ms: 0 on one machine. */
  toleranceMs: number;
  /** Suppressed matches that a monitor may store a UTC day; default 10,000. */
  suppressedPerDay?: number;
  metrics: Metrics;
  logger: Logger;
  /** Called once with an error that nobody expected; the process must end. */
  fatal: (error: Error) => void;
}

/** Bounds how long a monitor's lock is held. */
const MAX_BATCH = 2_000;
/** Their waits for the disk overlap; a monitor lives in one partition, so they never wait for each other's locks. */
const PARTITIONS_AT_ONCE = 4;

/** Consumes monitor.candidates, records them, publishes monitor.matches, and only then commits the offsets. */
export async function startRecorder(deps: RecorderDeps): Promise<BatchConsumer> {
  const { kafka, prefix, publisher, metrics, logger, fatal } = deps;
  return startBatchConsumer({
    kafka,
    prefix,
    group: RECORDER_GROUP,
    topics: [MONITOR_CANDIDATES.name],
    handle: (batch) => handleBatch(deps, batch),
    maxRecords: MAX_BATCH,
    partitionsConcurrently: PARTITIONS_AT_ONCE,
    deadLetters: new DeadLetters({ publisher, group: RECORDER_GROUP, metrics, logger }),
    fatal,
    metrics,
    logger,
  });
}

/** Steps 1 and 2 are recordBatch's; a crash anywhere before step 4 is done repeats all of them, to the same effect. */
async function handleBatch(deps: RecorderDeps, batch: ConsumedBatch): Promise<BatchOutcome> {
  const { parsed, poison } = parseRecords(candidate, batch);
  const stopTimer = deps.metrics.recorderBatchSeconds.startTimer();
  const { matches, outcomes } = await recordBatch(
    deps,
    parsed.map(({ value }) => value),
  );
  // 3. Publish. Whoever took the partition over meanwhile publishes the same.
  if (batch.isCurrent()) await deps.publisher.publish(MONITOR_MATCHES.name, matches.map(toRecord));
  stopTimer();
  for (const [outcome, count] of Object.entries(outcomes)) deps.metrics.recorderCandidates.inc({ outcome }, count);
  // 4. The consumer sets the unreadable ones aside and commits the offsets.
  return { poison };
}

function toRecord(match: RecordedMatch): OutgoingRecord {
  return { key: match.monitor_id, value: JSON.stringify(match) };
}
