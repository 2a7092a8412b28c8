import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BackfillDeps } from '../../../services/recorder/backfill/backfill-deps.ts';
import { createReadArchive } from '../../../services/recorder/backfill/read-archive.ts';
import { startBackfills } from '../../../services/recorder/backfill/start-backfills.ts';
import { LiveLoad } from '../../../services/recorder/live-load.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import {
  allMatches,
  backfill,
  endedRun,
  publishedMatches,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

/** More than two parts of the archive, of 1,000 each. */
const ITEMS = 2_600;

let pipeline: Pipeline;
let backfills: Running | undefined;
beforeEach(async () => {
  pipeline = await Pipeline.create();
  await pipeline.start('archiver', 'matcher', 'recorder');
  const items = Array.from({ length: ITEMS }, (_, at) =>
    seenItem(`t1_c${at}`, 3_600_000 + at, { body: 'some tantalum' }),
  );
  await publishItems(pipeline, items);
  await untilArchived(pipeline, ITEMS);
});
afterEach(async () => {
  await backfills?.stop();
  backfills = undefined;
  await pipeline.drop();
});

function start(more: Partial<BackfillDeps> = {}): void {
  const { kafka, publisher, prefix, metrics } = pipeline.kafka;
  backfills = startBackfills({
    ...{
      kafka,
      publisher,
      prefix,
      metrics,
      logger: silentLogger(),
      readArchive: createReadArchive(pipeline.clickhouse),
    },
    ...{ pool: pipeline.db.pool, archiveReady: Promise.resolve(true), toleranceMs: 0, liveLoad: new LiveLoad() },
    ...more,
  });
}

async function monitorWithRun(): Promise<{ apiKey: string; id: string; run: string }> {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: ['tantalum'] });
  const from = new Date(Date.now() - 86_400_000).toISOString();
  const { body } = await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/backfill`, { from });
  return { apiKey, id, run: (body.backfill as { id: string }).id };
}

async function recorded(id: string): Promise<number> {
  const { rows } = await pipeline.db.pool.query<{ seq: number }>(
    'SELECT last_seq AS seq FROM monitor_counters WHERE monitor_id = $1',
    [id],
  );
  return rows[0]!.seq;
}

test('after the answer nothing is recorded or charged; another run finds the rest', async () => {
  const read = createReadArchive(pipeline.clickhouse);
  const mayGoOn = Promise.withResolvers<undefined>();
  let parts = 0;
  start({
    async readArchive(range, signal) {
      parts += 1;
      const part = await read(range, signal);
      // The second part waits, until the run is cancelled.
      if (parts === 2) await mayGoOn.promise;
      return part;
    },
  });
  const { apiKey, id, run } = await monitorWithRun();
  await eventually('the first part is recorded', async () => (await recorded(id)) === 1_000);
  const answer = await pipeline.api.call(apiKey, 'DELETE', `/v1/monitors/${id}/backfill/${run}`);
  expect([answer.status, answer.body]).toMatchObject([200, { backfill: { state: 'cancelling', matches: 1_000 } }]);
  mayGoOn.resolve(undefined);
  const ended = await endedRun(pipeline, apiKey, id);
  expect(ended).toMatchObject({ id: run, state: 'cancelled', matches: 1_000, credits: 10 });
  expect(await recorded(id)).toBe(1_000);
  expect(await publishedMatches(pipeline)).toHaveLength(1_000);
  const { backfillsEnded, backfillMatches } = pipeline.kafka.metrics;
  expect((await backfillsEnded.get()).values).toMatchObject([{ labels: { state: 'cancelled' }, value: 1 }]);
  expect((await backfillMatches.get()).values).toMatchObject([{ value: 1_000 }]);

  expect(await backfill(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 1_600, already_known: 1_000 });
  const matches = await allMatches(pipeline, apiKey, id);
  expect(new Set(matches.map(({ thing_id }) => thing_id)).size).toBe(ITEMS);
});
