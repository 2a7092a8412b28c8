import { candidate } from '../../schemas/messages/monitor-match.ts';
import type { Candidate, RecordedMatch } from '../../schemas/messages/monitor-match.ts';
import { MONITOR_CANDIDATES, MONITOR_MATCHES, RECORDER_GROUP } from '../../schemas/messages/topics.ts';
import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import { noteLostRecords } from '../../shared/crawl/lost-records.ts';
import { startBatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import { ANY_RECORD } from '../../shared/kafka/batch-runner.ts';
import { parseRecords } from '../../shared/kafka/consumed-batch.ts';
import type { BatchOutcome, ConsumedBatch, ConsumedRecord } from '../../shared/kafka/consumed-batch.ts';
import { DeadLetters } from '../../shared/kafka/dead-letters.ts';
import type { KafkaConnection } from '../../shared/kafka/kafka-connection.ts';
import type { OutgoingRecord, Publisher } from '../../shared/kafka/publisher.ts';
import { CallBatcher } from '../../shared/runtime/call-batcher.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Metrics } from '../../shared/runtime/metrics.ts';
import { traceHeaders, traceparentOf } from '../../shared/runtime/tracing.ts';
import type { TraceSpan, Tracing } from '../../shared/runtime/tracing.ts';
import { recordBatch } from './record-batch.ts';
import type { RecordBatchDeps } from './record-batch.ts';
import { createReadArchive, LiveLoad } from './run-backfill.ts';
import type { BackfillDeps } from './run-backfill.ts';
import { startBackfills } from './start-backfills.ts';

export interface RecorderDeps extends RecordBatchDeps {
  kafka: KafkaConnection;
  prefix: string;
  /** For matches and dead letters; takes topic names without the prefix. */
  publisher: Publisher;
  liveLoad?: LiveLoad;
  metrics: Metrics;
  logger: Logger;
  tracing?: Tracing | undefined;
  /** Called once with an unexpected error; the process must end. */
  fatal: (error: Error) => void;
}

/** Limits how long a transaction keeps the monitors locked. */
const MAX_BATCH = 2_000;
/**
 * They share a transaction. Where they are too many for one, the waits of several for the disk overlap. A monitor is in
 * one partition, so they never wait for each other's locks.
 */
const CONCURRENT_PARTITIONS = 4;

interface PartitionBatch {
  candidates: readonly Candidate[];
  isCurrent: () => boolean;
  trace: BatchTrace | undefined;
}

type Batches = CallBatcher<PartitionBatch, undefined>;

/**
 * Consumes monitor.candidates, stores the matches, publishes them to monitor.matches, and then commits the offsets.
 *
 * Before: the matcher published the candidates. After: the deliverer and the archiver consume monitor.matches.
 */
export async function startRecorder(deps: RecorderDeps): Promise<BatchConsumer> {
  const { kafka, prefix, publisher, metrics, logger, fatal } = deps;
  // After a failure each partition is recorded by itself: a monitor whose lock is held delays only its own one.
  let mayJoin = true;
  // The partitions of one answer to a fetch arrive together. None waits for another answer.
  const batches: Batches = new CallBatcher({
    run: async (joined) => {
      try {
        await recordAndPublish(deps, joined);
        mayJoin = true;
      } catch (error) {
        mayJoin = false;
        throw error;
      }
      return joined.map(() => undefined);
    },
    sizeOf: ({ candidates }) => (mayJoin ? candidates.length : MAX_BATCH),
    maxGroup: MAX_BATCH,
    maxRunning: CONCURRENT_PARTITIONS,
  });
  return startBatchConsumer({
    kafka,
    prefix,
    group: RECORDER_GROUP,
    topics: [MONITOR_CANDIDATES.name],
    handle: (batch) => recordPartition(deps, batches, batch),
    gather: ANY_RECORD,
    maxRecords: MAX_BATCH,
    partitionsConcurrently: CONCURRENT_PARTITIONS,
    deadLetters: new DeadLetters({ publisher, group: RECORDER_GROUP, metrics, logger }),
    noteLost: (lost) => noteLostRecords(deps.pool, lost),
    fatal,
    metrics,
    logger,
  });
}

interface RecordingDeps
  extends
    Omit<RecorderDeps, 'publisher' | 'liveLoad'>,
    Pick<BackfillDeps, 'archiveReady' | 'toleranceMs' | 'matcherShards'> {
  clickhouse: ClickHouseClient;
  /** Two, so that live matches do not wait for backfilled ones. */
  publishers: { live: Publisher; backfills: Publisher };
}

/** Starts the whole service: live matches and backfills. */
export async function startRecording(
  deps: RecordingDeps,
): Promise<Running & Pick<BatchConsumer, 'ready' | 'isHalted'>> {
  const { publishers, clickhouse } = deps;
  const liveLoad = new LiveLoad();
  const recorder = await startRecorder({ ...deps, publisher: publishers.live, liveLoad });
  const readArchive = createReadArchive(clickhouse);
  const backfills = startBackfills({ ...deps, publisher: publishers.backfills, readArchive, liveLoad });
  return {
    ready: () => recorder.ready(),
    isHalted: () => recorder.isHalted(),
    async stop() {
      await backfills.stop();
      await recorder.stop();
    },
  };
}

async function recordPartition(deps: RecorderDeps, batches: Batches, batch: ConsumedBatch): Promise<BatchOutcome> {
  deps.liveLoad?.noteBatch();
  const { parsed, poison } = parseRecords(candidate, batch);
  const trace = deps.tracing && new BatchTrace(deps.tracing, parsed);
  const candidates = parsed.map(({ value }) => value);
  try {
    if (candidates.length > 0) await batches.call({ candidates, isCurrent: () => batch.isCurrent(), trace });
  } finally {
    trace?.end();
  }
  // 4. The consumer sends malformed candidates to the dead-letter topic and commits the offsets.
  return { poison };
}

/** `recordBatch` does steps 1 and 2. A crash before step 4 is done repeats all steps with the same result. */
async function recordAndPublish(deps: RecorderDeps, batches: readonly PartitionBatch[]): Promise<void> {
  const stopTimer = deps.metrics.recorderBatchSeconds.startTimer();
  const { matches, outcomes } = await recordBatch(
    deps,
    batches.flatMap(({ candidates }) => candidates),
  );
  // 3. Publish. When a partition was reassigned, its new owner publishes the same matches.
  const current = batches.filter(({ isCurrent }) => isCurrent());
  const monitors = new Set(current.flatMap(({ candidates }) => candidates.map(({ monitor_id: id }) => id)));
  const records = matches
    .filter(({ monitor_id: id }) => monitors.has(id))
    .map((match) => toRecord(match, spanOf(match, current)));
  await deps.publisher.publish(MONITOR_MATCHES.name, records);
  stopTimer();
  for (const [outcome, count] of Object.entries(outcomes)) deps.metrics.recorderCandidates.inc({ outcome }, count);
}

function spanOf(match: RecordedMatch, batches: readonly PartitionBatch[]): TraceSpan | undefined {
  for (const { trace } of batches) {
    const span = trace?.spanOf(match);
    if (span) return span;
  }
  return undefined;
}

function toRecord(match: RecordedMatch, span: TraceSpan | undefined): OutgoingRecord {
  return { key: match.monitor_id, value: JSON.stringify(match), ...traceHeaders(span) };
}

/**
 * The spans of one batch: one for each sampled candidate, in its item's trace, and one for the transaction that they
 * share. That one is a part of the first candidate's trace and linked with the spans of the others, which is how
 * OpenTelemetry describes work by batches.
 */
class BatchTrace {
  /** By monitor and item. */
  private readonly spans = new Map<string, TraceSpan>();
  private readonly transaction: TraceSpan | undefined;

  constructor(tracing: Tracing, candidates: readonly { record: ConsumedRecord; value: Candidate }[]) {
    let first: string | undefined;
    for (const { record, value } of candidates) {
      const traceparent = traceparentOf(record.headers);
      const attributes = { 'forum.monitor_id': value.monitor_id, 'forum.thing_id': value.item.thing_id };
      const span = tracing.continue('record', traceparent, { kind: 'consumer', attributes });
      if (span === undefined) continue;
      first ??= traceparent;
      this.spans.set(keyOf(value), span);
    }
    this.transaction = tracing.continue('record batch', first, {
      kind: 'consumer',
      attributes: { 'messaging.batch.message_count': candidates.length },
      links: [...this.spans.values()].map(({ traceparent }) => traceparent),
    });
  }

  /** The span that a match of this batch continues; undefined when its candidate is not sampled. */
  spanOf(match: RecordedMatch): TraceSpan | undefined {
    return this.spans.get(keyOf(match));
  }

  end(): void {
    for (const span of this.spans.values()) span.end();
    this.transaction?.end();
  }
}

function keyOf({ monitor_id, item }: { monitor_id: string; item: { thing_id: string } }): string {
  return `${monitor_id}|${item.thing_id}`;
}
