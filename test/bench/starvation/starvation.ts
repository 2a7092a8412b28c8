/**
 * `npm run --silent bench -- starvation [--reads 0,2,8,20] [--seconds N] [--clients N] [--window SECONDS] [--live-share
 * P --reading-share P]`: what reading costs the live crawl. A simulated forum with the real limits (1,000 calls in ten
 * minutes per client) and round trips of 300 to 600 ms emits 132 comments and 19 posts a second. Crawler and API are
 * two processes, and readers request things that no cache has. For each rate of reads, one line says how many of the
 * comments of the measured time reached Kafka, and what readers were answered.
 *
 * By default windows are one minute long, with a tenth of the calls, so that a short run includes ends of windows.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { CrawledNames } from '../shared/crawled-names.ts';
import { readSteadily } from './steady-reads.ts';
import { StarvationProcesses } from './processes.ts';

const ITEMS_PER_SECOND = 151;
const WARM_UP_MS = 15_000;
/** An item counts as live if it is seen within this time after it appeared. */
const GRACE_MS = 15_000;

interface Point {
  reads: number;
  seconds: number;
  clients: number;
  windowSeconds: number;
  shares: Record<string, string>;
}

export default async function starvation(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      reads: { type: 'string', default: '0,2,8,20' },
      seconds: { type: 'string', default: '75' },
      clients: { type: 'string', default: '4' },
      window: { type: 'string', default: '60' },
      'live-share': { type: 'string', default: '60' },
      'reading-share': { type: 'string', default: '20' },
    },
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-starvation-'));
  const engines = await startEngines({ dataDir, env: process.env });
  try {
    for (const reads of values.reads.split(',').map(Number)) {
      const shares = { UPSTREAM_LIVE_SHARE: values['live-share'], UPSTREAM_READING_SHARE: values['reading-share'] };
      const sizes = { seconds: Number(values.seconds), clients: Number(values.clients) };
      const point = { reads, ...sizes, windowSeconds: Number(values.window), shares };
      report({ ...point, ...(await measure(engines, dataDir, point)) });
    }
  } finally {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(engines: RunningEngines, dataDir: string, point: Point): Promise<object> {
  const db = await createTestDatabase(engines.urls.postgres);
  const simulator = await startSimulatorProcess({
    SIMULATOR_RATE: String(ITEMS_PER_SECOND),
    SIMULATOR_CALLS_PER_10MIN: '1000',
    SIMULATOR_WINDOW_SECONDS: String(point.windowSeconds),
    SIMULATOR_LATENCY_MS: '300-600',
    SIMULATOR_LATE: '0',
  });
  const processes = new StarvationProcesses({ engines, db, dataDir, simulator: simulator.url, point });
  const crawled = await CrawledNames.follow(engines.urls.kafka, processes.topicPrefix);
  try {
    const key = await processes.start();
    await wait(WARM_UP_MS);
    const from = Date.now();
    const before = await processes.callsByLane();
    const answers = await readSteadily({ url: processes.apiUrl, key, perSecond: point.reads, seconds: point.seconds });
    const to = Date.now();
    const after = await processes.callsByLane();
    await wait(GRACE_MS);
    const emitted = simulator.emitted().filter(({ visible_at: at }) => at >= from && at < to);
    const gaps = await db.pool.query<{ source: string }>('SELECT source FROM crawl_gaps');
    const calls = Object.entries(after).map(([lane, count]) => [lane, count - (before[lane] ?? 0)]);
    return {
      comments: crawled.completeness(emitted.filter(({ kind }) => kind === 'comment')),
      posts: crawled.completeness(emitted.filter(({ kind }) => kind === 'post')),
      gaps_recorded: gaps.rows.length,
      read_answers: answers,
      calls: Object.fromEntries(calls) as Record<string, number>,
      service_ends: processes.ends,
    };
  } finally {
    await processes.stop();
    await crawled.stop();
    await simulator.stop();
    await db.drop();
  }
}
