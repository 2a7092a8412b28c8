import type { ClickHouseClient } from '../../shared/clickhouse/clickhouse-client.ts';
import type { BatchConsumer } from '../../shared/kafka/batch-consumer.ts';
import type { Publisher } from '../../shared/kafka/publisher.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { BackfillDeps } from './backfill/run-backfill.ts';
import { createReadArchive } from './backfill/run-backfill.ts';
import { startBackfills } from './backfill/start-backfills.ts';
import { LiveLoad, startRecorder } from './start-recorder.ts';
import type { RecorderDeps } from './start-recorder.ts';

export interface RecordingDeps
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
