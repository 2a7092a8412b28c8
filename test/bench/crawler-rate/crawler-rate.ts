/**
 * `npm run --silent bench -- crawler-rate [--rates 132,300,1000] [--latencies 100,300,600] [--seconds N] [--calls N]
 * [--sources NAMES]`: what one crawler process takes. A simulated forum in a process of its own emits that many items a
 * second, seven comments to a post, at that round trip; the crawler is the service as it runs in production, with a
 * real broker. For each pair one line says how many items a second arrived, what was missed, the time from visible to
 * the broker, and the processor time and memory of the crawler.
 *
 * The quota is generous (`--calls` in ten minutes per client, four clients), because the crawler is measured here and
 * not the quota. Items count as missed if they have not arrived 15 s after the end.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { RunningEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { CrawledNames } from '../shared/crawled-names.ts';
import { percentiles } from '../shared/percentiles.ts';
import { ProcessUse } from './process-use.ts';

const CLIENTS = 4;
const WARM_UP_MS = 10_000;
const GRACE_MS = 15_000;

interface Point {
  /** Items a second. */
  rate: number;
  /** The round trip in milliseconds. */
  latencyMs: number;
  seconds: number;
  callsPer10Min: number;
  sources: string;
}

export default async function crawlerRate(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rates: { type: 'string', default: '132,300,1000' },
      latencies: { type: 'string', default: '100,300,600' },
      seconds: { type: 'string', default: '60' },
      calls: { type: 'string', default: '60000' },
      sources: { type: 'string', default: 'post-ids,listings' },
    },
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-crawler-'));
  const engines = await startEngines({ dataDir, env: process.env });
  const { seconds, calls, sources } = values;
  try {
    for (const rate of values.rates.split(',').map(Number)) {
      for (const latencyMs of values.latencies.split(',').map(Number)) {
        const point = { rate, latencyMs, seconds: Number(seconds), callsPer10Min: Number(calls), sources };
        report(await measure(engines, mkdtempSync(join(dataDir, 'crawler-')), point));
      }
    }
  } finally {
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(engines: RunningEngines, folder: string, point: Point): Promise<object> {
  const db = await createTestDatabase(engines.urls.postgres);
  const topicPrefix = `bench-${randomBytes(4).toString('hex')}.`;
  const simulator = await startSimulatorProcess({
    SIMULATOR_RATE: String(point.rate),
    SIMULATOR_CALLS_PER_10MIN: String(point.callsPer10Min),
    SIMULATOR_LATENCY_MS: String(point.latencyMs),
    SIMULATOR_COMMENT_IDS: 'random',
    SIMULATOR_LATE: '0',
  });
  const crawled = await CrawledNames.follow(engines.urls.kafka, topicPrefix);
  const metricsPort = await freePort();
  const crawler = new ServiceProcess('crawler', {
    ...environment(engines, db, { folder, topicPrefix, simulator: simulator.url }),
    CRAWL_SOURCES: point.sources,
    METRICS_PORT: String(metricsPort),
    PORT: String(await freePort()),
  });
  try {
    crawler.start();
    await eventually('the crawl begins', () => crawled.count > 0, 90_000);
    await wait(WARM_UP_MS);
    const calls = () => takenCalls(metricsPort);
    const [from, callsBefore] = [Date.now(), await calls()];
    const use = new ProcessUse(crawler.pid!);
    await wait(point.seconds * 1000);
    const to = Date.now();
    const used = use.stop();
    const callsMade = (await calls()) - callsBefore;
    await wait(GRACE_MS);
    const emitted = simulator.emitted().filter(({ visible_at: at }) => at >= from && at < to);
    const seen = emitted.length - crawled.missing(emitted).length;
    const { p50, p90, p99 } = percentiles(crawled.lags(emitted));
    const gaps = await db.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM crawl_gaps');
    return {
      rate: point.rate,
      round_trip_ms: point.latencyMs,
      items_per_s: Number(((seen * 1000) / (to - from)).toFixed(1)),
      missed_comments: crawled.missing(emitted.filter(({ kind }) => kind === 'comment')).length,
      missed_posts: crawled.missing(emitted.filter(({ kind }) => kind === 'post')).length,
      percent: Number(((100 * seen) / Math.max(1, emitted.length)).toFixed(2)),
      repeated: crawled.repeated,
      lag_ms: { p50, p90, p99 },
      gaps: gaps.rows[0]?.count,
      calls_per_s: Number(((callsMade * 1000) / (to - from)).toFixed(1)),
      ...used,
      cpu_us_per_item: Math.round((used.cpu_s * 1e6) / Math.max(1, seen)),
      service_ends: crawler.ownEnds,
    };
  } finally {
    await crawler.stop();
    await crawled.stop();
    await simulator.stop();
    await db.drop();
  }
}

function environment(
  engines: RunningEngines,
  db: TestDatabase,
  { folder, topicPrefix, simulator }: { folder: string; topicPrefix: string; simulator: string },
): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    KAFKA_BROKERS: engines.urls.kafka,
    KAFKA_TOPIC_PREFIX: topicPrefix,
    FORUM_EMBEDDED: 'kafka,postgres,clickhouse',
    DATABASE_URL: db.url,
    CLICKHOUSE_URL: engines.urls.clickhouse,
    UPSTREAM_URL: simulator,
    UPSTREAM_TOKEN_URL: `${simulator}/api/v1/access_token`,
    UPSTREAM_CLIENTS: Array.from({ length: CLIENTS }, (_, n) => `client${n}:secret`).join(','),
  };
}

/** Calls to the forum so far. */
async function takenCalls(metricsPort: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counts = text.matchAll(/^upstream_lane_calls_total\{[^}]*outcome="taken"[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
