/**
 * `npm run --silent bench -- retention [--rows N] [--seconds N] [--minutes N]`: the recorder's speed with and without
 * the sweep, which deletes N expired matches (default 10 million) of 2,000 monitors, each with an attempt: at full
 * speed, and at an even 500 a second. Windows of `seconds` alternate between the two loads. The sweep is stopped after
 * `minutes` if it has not finished. Runs on embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { parseArgs } from 'node:util';
import { sweepRetention } from '../../../services/biller/retention-sweep.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { databaseSize, fillTables, thingsFor } from '../shared/filled-matches.ts';
import { percentiles } from '../shared/percentiles.ts';
import { openPostgres } from '../shared/postgres-engine.ts';
import { RecorderLoad } from '../recorder/recorder-load.ts';

const MONITORS = 2_000;
const PER_SECOND = 500;

interface Windows {
  flatOut: number[];
  even: number[];
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: 'string', default: '10000000' },
      seconds: { type: 'string', default: '10' },
      minutes: { type: 'string', default: '60' },
    },
  });
  const windowMs = Number(values.seconds) * 1_000;
  const maxSweepMs = Number(values.minutes) * 60_000;
  const engine = await openPostgres();
  try {
    const database = await createTestDatabase(engine.url);
    try {
      await measure(report, {
        url: database.url,
        pool: database.pool,
        rows: Number(values.rows),
        windowMs,
        maxSweepMs,
      });
    } finally {
      await database.drop();
    }
  } finally {
    await engine.stop();
  }
}

async function measure(
  report: Report,
  {
    url,
    pool,
    rows,
    windowMs,
    maxSweepMs,
  }: { url: string; pool: Pool; rows: number; windowMs: number; maxSweepMs: number },
): Promise<void> {
  const monitorIds = await insertMonitors(pool, MONITORS, { webhookUrl: 'https://example.com/', pack: 79 });
  const matches = Math.ceil(rows / MONITORS);
  const begun = performance.now();
  const groups = [{ monitorIds, matches }];
  await fillTables(url, { groups, things: thingsFor(rows, matches), oldestDays: 60, newestDays: 34, attempts: true });
  report({
    what: 'fill',
    matches: matches * MONITORS,
    seconds: seconds(begun),
    gigabytes: gigabytes(await databaseSize(pool)),
  });
  const load = new RecorderLoad(pool, monitorIds);
  await load.flatOut(3_000);
  const alone: Windows = { flatOut: [], even: [] };
  const during: Windows = { flatOut: [], even: [] };
  for (let round = 0; round < 2; round += 1) await runWindows(load, alone, windowMs);
  const swept = await sweepMeanwhile(url, maxSweepMs, async (isOver) => {
    while (!isOver()) await runWindows(load, during, windowMs, isOver);
  });
  for (let round = 0; round < 2; round += 1) await runWindows(load, alone, windowMs);
  report({ what: 'sweep', ...swept });
  report({ what: 'recorder alone', ...inNumbers(alone) });
  report({ what: 'recorder while the sweep runs', ...inNumbers(during) });
  const slower = 1 - median(during.flatOut) / median(alone.flatOut);
  report({ what: 'slowed by', flat_out_percent: Math.round(slower * 1_000) / 10 });
}

/** One window of each load. A window that began after the sweep ended does not count. */
async function runWindows(load: RecorderLoad, windows: Windows, ms: number, isOver = () => false): Promise<void> {
  const flatOut = await load.flatOut(ms);
  if (!isOver()) windows.flatOut.push(flatOut);
  if (isOver()) return;
  windows.even.push(...(await load.evenly(PER_SECOND, ms)));
}

/** Uses a separate pool, as another process would. */
async function sweepMeanwhile(
  url: string,
  maxSweepMs: number,
  work: (isOver: () => boolean) => Promise<void>,
): Promise<object> {
  const pool = createPool({ url, name: 'bench-sweep', logger: silentLogger(), max: 2 });
  const metrics = createMetrics();
  const signal = AbortSignal.timeout(maxSweepMs);
  const begun = performance.now();
  let isOver = false;
  let took = 0;
  const sweeping = sweepRetention({ pool, metrics, signal, mayContinue: () => Promise.resolve(true) }).finally(() => {
    isOver = true;
    took = seconds(begun);
  });
  await work(() => isOver);
  await sweeping;
  await pool.end();
  const counts = (await metrics.swept.get()).values as { labels: { table: string }; value: number }[];
  const deleted = Object.fromEntries(counts.map(({ labels, value }) => [labels.table, value]));
  const rows = counts.reduce((sum, { value }) => sum + value, 0);
  return { seconds: took, deleted, rows_per_s: Math.round(rows / took) };
}

function inNumbers({ flatOut, even }: Windows): object {
  const { p50, p90, p99, max } = percentiles(even);
  return {
    flat_out_per_s: Math.round(median(flatOut)),
    windows: flatOut,
    even_per_s: PER_SECOND,
    even_batch_ms: { p50, p90, p99, max },
  };
}

/** NaN if the sweep ended before a window did. */
function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}

function gigabytes(bytes: number): number {
  return Math.round(bytes / 1e8) / 10;
}
