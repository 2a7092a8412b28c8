import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BackfillDeps, ReadArchive } from '../../../services/recorder/backfill/backfill-deps.ts';
import { createReadArchive } from '../../../services/recorder/backfill/read-archive.ts';
import { startBackfills } from '../../../services/recorder/backfill/start-backfills.ts';
import { LiveLoad } from '../../../services/recorder/live-load.ts';
import { markEngine } from '../../../shared/outages/engine.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import {
  allMatches,
  endedRun,
  newestRun,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let pipeline: Pipeline;
let backfills: Running | undefined;
let reads = 0;
let warnings = 0;

beforeEach(async () => {
  pipeline = await Pipeline.create();
  reads = 0;
  warnings = 0;
  await pipeline.start('archiver', 'matcher', 'recorder');
});
afterEach(async () => {
  await backfills?.stop();
  backfills = undefined;
  await pipeline.drop();
});

/** Backfills whose reads of the archive fail while `error` returns one. */
function start(error: (monitorWord: string) => Error | undefined): void {
  const { kafka, publisher, prefix, metrics } = pipeline.kafka;
  const read = createReadArchive(pipeline.clickhouse);
  const readArchive: ReadArchive = (range, signal) => {
    reads += 1;
    const failure = error(range.rule.keywords[0] ?? '');
    return failure ? Promise.reject(failure) : read(range, signal);
  };
  const logger = silentLogger();
  const warn = () => {
    warnings += 1;
  };
  const counting = Object.assign(Object.create(logger) as typeof logger, { warn, child: () => counting });
  const deps: BackfillDeps = {
    ...{ kafka, publisher, prefix, metrics, readArchive, logger: counting },
    ...{ pool: pipeline.db.pool, archiveReady: Promise.resolve(true), toleranceMs: 0, liveLoad: new LiveLoad() },
  };
  backfills = startBackfills(deps);
}

async function monitorWithRun(word: string): Promise<{ apiKey: string; id: string }> {
  const { apiKey } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: [word] });
  const from = new Date(Date.now() - 86_400_000).toISOString();
  await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/backfill`, { from });
  return { apiKey, id };
}

const away = () => markEngine(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }), 'clickhouse');

test('while ClickHouse is away a run waits with back-off, says so once, and goes on', async () => {
  await publishItems(pipeline, [seenItem('t1_a', 3_600_000, { body: 'some hafnium' })]);
  await untilArchived(pipeline, 1);
  let isAway = true;
  start(() => (isAway ? away() : undefined));
  const { apiKey, id } = await monitorWithRun('hafnium');
  await eventually('several tries', () => reads >= 3);
  expect(await newestRun(pipeline, apiKey, id)).toMatchObject({ state: 'running', matches: 0 });
  expect(warnings).toBe(1);
  isAway = false;
  expect(await endedRun(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 1 });
});

test('an error of ours fails its run after three tries; the runs of others go on', async () => {
  await publishItems(pipeline, [
    seenItem('t1_a', 3_600_000, { body: 'some hafnium' }),
    seenItem('t1_b', 3_600_000, { body: 'some lutetium' }),
  ]);
  await untilArchived(pipeline, 2);
  start((word) => (word === 'hafnium' ? new TypeError('a fault') : undefined));
  const broken = await monitorWithRun('hafnium');
  for (let fault = 1; fault < 3; fault++) {
    await eventually('a fault is counted', async () => {
      const { rows } = await pipeline.db.pool.query<{ faults: number }>('SELECT faults FROM backfills');
      return rows[0]!.faults === fault;
    });
    await pipeline.db.setShift(`${fault * 11} seconds`);
  }
  expect(await endedRun(pipeline, broken.apiKey, broken.id)).toMatchObject({ state: 'failed', matches: 0, credits: 0 });
  const healthy = await monitorWithRun('lutetium');
  expect(await endedRun(pipeline, healthy.apiKey, healthy.id)).toMatchObject({ state: 'done', matches: 1 });
  expect(await allMatches(pipeline, broken.apiKey, broken.id)).toEqual([]);
});

test.each([
  ['the monitor is deleted', `UPDATE monitors SET status = 'deleted' WHERE account_id = $1`],
  ['the account is frozen', `UPDATE accounts SET status = 'frozen' WHERE id = $1`],
  ['the account is deleted', `UPDATE accounts SET status = 'deleted' WHERE id = $1`],
])('a run is cancelled, records nothing and costs nothing when %s', async (_name, change) => {
  await publishItems(pipeline, [seenItem('t1_a', 3_600_000, { body: 'some osmium' })]);
  await untilArchived(pipeline, 1);
  const { id } = await monitorWithRun('osmium');
  const { pool } = pipeline.db;
  const { rows } = await pool.query<{ account: string }>('SELECT account_id AS account FROM monitors WHERE id = $1', [
    id,
  ]);
  await pool.query(change, [rows[0]!.account]);
  start(() => undefined);
  const state = await eventually('the run ends', async () => {
    const ended = await pool.query<{ state: string }>(`SELECT state FROM backfills WHERE state <> 'running'`);
    return ended.rows[0]?.state;
  });
  expect(state).toBe('cancelled');
  expect((await pool.query('SELECT FROM matches')).rowCount).toBe(0);
  expect((await pool.query(`SELECT FROM ledger_entries WHERE kind = 'backfill'`)).rowCount).toBe(0);
});
