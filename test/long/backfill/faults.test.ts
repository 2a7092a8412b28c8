import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ReadArchive } from '../../../services/recorder/run-backfill.ts';
import { createReadArchive, LiveLoad } from '../../../services/recorder/run-backfill.ts';
import { startBackfills } from '../../../services/recorder/start-backfills.ts';
import { markEngine } from '../../../shared/runtime/errors.ts';
import type { Running } from '../../../shared/runtime/lifecycle.ts';
import {
  allMatches,
  backfill,
  endedRun,
  newestRun,
  publishedMatches,
  publishItems,
  seenItem,
  untilArchived,
} from '../../support/fixtures/backfill/backfill-fixture.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Pipeline } from '../../support/fixtures/pipeline.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

let pipeline: Pipeline;
let read: ReadArchive;
let backfills: Running | undefined;
let archived = 0;
let warnings: number;

beforeAll(async () => {
  pipeline = await Pipeline.create();
  read = createReadArchive(pipeline.clickhouse);
  await pipeline.start('archiver', 'matcher', 'recorder');
});
beforeEach(() => {
  warnings = 0;
});
afterEach(async () => {
  await backfills?.stop();
  backfills = undefined;
});
afterAll(() => pipeline.drop());

function start(readArchive: ReadArchive): void {
  const { kafka, publisher, prefix, metrics } = pipeline.kafka;
  const logger = silentLogger();
  const warn = () => {
    warnings += 1;
  };
  const counting = Object.assign(Object.create(logger) as typeof logger, { warn, child: () => counting });
  backfills = startBackfills({
    ...{ kafka, publisher, prefix, metrics, readArchive, logger: counting },
    ...{ pool: pipeline.db.pool, archiveReady: Promise.resolve(true), toleranceMs: 0, liveLoad: new LiveLoad() },
  });
}

/** Archives comments with this word. */
async function archive(word: string, count = 1): Promise<void> {
  const items = Array.from({ length: count }, (_, at) =>
    seenItem(`t1_${word}${at}`, 3_600_000 + at, { body: `some ${word}` }),
  );
  await publishItems(pipeline, items);
  await untilArchived(pipeline, (archived += count));
}

async function monitorWithRun(word: string): Promise<{ apiKey: string; accountId: string; id: string; run: string }> {
  const { apiKey, accountId } = await pipeline.api.account();
  const { id } = await pipeline.api.monitor(apiKey, { keywords: [word] });
  const from = new Date(Date.now() - 86_400_000).toISOString();
  const { body } = await pipeline.api.call(apiKey, 'POST', `/v1/monitors/${id}/backfill`, { from });
  return { apiKey, accountId, id, run: (body.backfill as { id: string }).id };
}

async function numberOf(statement: string, value: string): Promise<number> {
  const { rows } = await pipeline.db.pool.query<{ n: number }>(statement, [value]);
  return rows[0]!.n;
}
const recordedOf = (id: string) =>
  numberOf('SELECT last_seq::int AS n FROM monitor_counters WHERE monitor_id = $1', id);

test('while ClickHouse is unavailable a run waits with back-off, says so once, and goes on', async () => {
  await archive('hafnium');
  let reads = 0;
  let isUnavailable = true;
  const unavailable = markEngine(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), 'clickhouse');
  start((...range) => {
    reads += 1;
    return isUnavailable ? Promise.reject(unavailable) : read(...range);
  });
  const { apiKey, id } = await monitorWithRun('hafnium');
  await eventually('several tries', () => reads >= 3);
  expect(await newestRun(pipeline, apiKey, id)).toMatchObject({ state: 'running', matches: 0 });
  expect(warnings).toBe(1);
  isUnavailable = false;
  expect(await endedRun(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 1 });
});

test('an error of ours fails its run after three tries; the runs of others go on', async () => {
  await archive('rhodium');
  await archive('lutetium');
  start((range, signal) =>
    range.rule.keywords[0] === 'rhodium' ? Promise.reject(new TypeError('a fault')) : read(range, signal),
  );
  const broken = await monitorWithRun('rhodium');
  for (let fault = 1; fault < 3; fault++) {
    const faults = () => numberOf('SELECT faults AS n FROM backfills WHERE monitor_id = $1', broken.id);
    await eventually('a fault is counted', async () => (await faults()) === fault);
    await pipeline.db.setShift(`${fault * 11} seconds`);
  }
  expect(await endedRun(pipeline, broken.apiKey, broken.id)).toMatchObject({ state: 'failed', matches: 0, credits: 0 });
  const healthy = await monitorWithRun('lutetium');
  expect(await endedRun(pipeline, healthy.apiKey, healthy.id)).toMatchObject({ state: 'done', matches: 1 });
  expect(await allMatches(pipeline, broken.apiKey, broken.id)).toEqual([]);
});

test.each([
  ['the monitor is deleted', 'osmium', `UPDATE monitors SET status = 'deleted' WHERE account_id = $1`],
  ['the account is frozen', 'iridium', `UPDATE accounts SET status = 'frozen' WHERE id = $1`],
  ['the account is deleted', 'radium', `UPDATE accounts SET status = 'deleted' WHERE id = $1`],
])('a run is cancelled, records nothing and costs nothing when %s', async (_, word, change) => {
  await archive(word);
  const { accountId, id } = await monitorWithRun(word);
  const { pool } = pipeline.db;
  await pool.query(change, [accountId]);
  start(read);
  await eventually('the run ends', async () => {
    const { rows } = await pool.query<{ state: string }>('SELECT state FROM backfills WHERE monitor_id = $1', [id]);
    return rows[0]!.state === 'cancelled';
  });
  expect(await recordedOf(id)).toBe(0);
  const charges = `SELECT count(*)::int AS n FROM ledger_entries WHERE kind = 'backfill' AND account_id = $1`;
  expect(await numberOf(charges, accountId)).toBe(0);
});

test('after the answer to a cancellation nothing is recorded or charged; another run finds the rest', async () => {
  // More than two parts of the archive, of 1,000 each.
  await archive('tantalum', 2_600);
  const mayGoOn = Promise.withResolvers<undefined>();
  let parts = 0;
  start(async (range, signal) => {
    parts += 1;
    const part = await read(range, signal);
    // The second part waits, until the run is cancelled.
    if (parts === 2) await mayGoOn.promise;
    return part;
  });
  const { apiKey, id, run } = await monitorWithRun('tantalum');
  await eventually('the first part is recorded', async () => (await recordedOf(id)) === 1_000);
  const answer = await pipeline.api.call(apiKey, 'DELETE', `/v1/monitors/${id}/backfill/${run}`);
  expect([answer.status, answer.body]).toMatchObject([200, { backfill: { state: 'cancelling', matches: 1_000 } }]);
  mayGoOn.resolve(undefined);
  const ended = await endedRun(pipeline, apiKey, id);
  expect(ended).toMatchObject({ id: run, state: 'cancelled', matches: 1_000, credits: 10 });
  expect(await recordedOf(id)).toBe(1_000);
  const published = await publishedMatches(pipeline);
  expect(published.filter(({ monitor_id }) => monitor_id === id)).toHaveLength(1_000);

  expect(await backfill(pipeline, apiKey, id)).toMatchObject({ state: 'done', matches: 1_600, already_known: 1_000 });
  const matches = await allMatches(pipeline, apiKey, id);
  expect(new Set(matches.map(({ thing_id }) => thing_id)).size).toBe(2_600);
});
