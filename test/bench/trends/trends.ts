/**
 * `npm run --silent bench -- trends [--matches N] [--others N] [--requests N]`: GET /v1/monitors/{id}/timeseries and
 * …/latency over HTTP, of four monitors with N matches of the last 30 days each (a million) and of one with 300, among
 * 9 million of 3,000 others; one request after the other, and one for each of the four at once. Every answer is checked
 * for the number of matches. Baseline: a bare count() of a monitor's matches. Engines of its own, whose folder is
 * removed at the end.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Latency, Timeseries } from '../../../schemas/api/trends.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { migrateClickhouse } from '../../../shared/clickhouse/migrate-clickhouse.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { startTestApi } from '../../support/fixtures/test-api.ts';
import type { TestAccount, TestApi } from '../../support/fixtures/test-api.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { percentiles } from '../shared/percentiles.ts';
import { fillTrends } from './filled-trends.ts';

const FEW = 300;
const OTHER_MONITORS = 3_000;
/** As many answers as a process computes at a time, by four accounts. */
const AT_ONCE = 4;
const PATHS = [
  'timeseries?interval=hour&by=total',
  'timeseries?interval=hour&by=keyword_subreddit',
  'timeseries?interval=day&by=keyword',
  'timeseries?interval=day&by=keyword_subreddit',
  'latency?days=7',
  'latency?days=30',
];

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      matches: { type: 'string', default: '1000000' },
      others: { type: 'string', default: '9000000' },
      requests: { type: 'string', default: '20' },
    },
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-trends-'));
  const engines = await startEngines({ dataDir, env: process.env, engines: ['postgres', 'clickhouse'] });
  const database = await createTestDatabase(engines.urls.postgres);
  const clickhouse = createClickhouse(engines.urls.clickhouse, 'bench');
  try {
    await migrateClickhouse(clickhouse, database.pool, silentLogger());
    const size = { matches: Number(values.matches), others: Number(values.others) };
    await measure(report, { database, clickhouse, size, requests: Number(values.requests) });
  } finally {
    await clickhouse.close();
    await database.drop();
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

interface Setup {
  database: TestDatabase;
  clickhouse: ClickHouseClient;
  size: { matches: number; others: number };
  requests: number;
}

async function measure(report: Report, { database, clickhouse, size, requests }: Setup): Promise<void> {
  const api = await startTestApi(database.pool, { clickhouse });
  try {
    const owners: TestAccount[] = [];
    for (let account = 0; account < AT_ONCE; account++) owners.push(await api.account());
    const others = await insertMonitors(database.pool, OTHER_MONITORS, { pack: 79 });
    const many = await Promise.all(owners.map(({ apiKey }) => api.monitor(apiKey).then(({ id }) => id)));
    const few = (await api.monitor(owners[0]!.apiKey)).id;
    const begun = performance.now();
    await fillTrends(clickhouse, [
      { ids: others, matches: size.others / OTHER_MONITORS },
      { ids: many, matches: size.matches },
      { ids: [few], matches: FEW },
    ]);
    report({
      filled: size,
      monitors_of_that_size: many.length,
      seconds: Math.round((performance.now() - begun) / 1_000),
    });
    const monitors = owners.map(({ apiKey }, index) => ({ apiKey, id: many[index]!, matches: size.matches }));
    report({ what: 'bare count()', ...(await timesOf(requests, () => bareCount(clickhouse, many[0]!, size.matches))) });
    const small = { apiKey: owners[0]!.apiKey, id: few, matches: FEW };
    for (const path of PATHS) {
      const alone = await timesOf(requests, async () => [await ask(api, monitors[0]!, path)]);
      const small_monitor = await timesOf(requests, async () => [await ask(api, small, path)]);
      const together = await timesOf(requests, () => Promise.all(monitors.map((monitor) => ask(api, monitor, path))));
      report({ what: path, alone, four_at_once: together, small_monitor });
    }
  } finally {
    await api.stop();
  }
}

/** Milliseconds. `unavailable`: answers that were 503, because the archive took longer than an answer may wait. */
async function timesOf(count: number, work: () => Promise<boolean[]>): Promise<object> {
  const times: number[] = [];
  let unavailable = 0;
  for (let request = 0; request < count; request++) {
    const begun = performance.now();
    unavailable += (await work()).filter((isAnswered) => !isAnswered).length;
    times.push(Math.round(performance.now() - begun));
  }
  const { p50, max } = percentiles(times);
  return { p50, p95: times.toSorted((a, b) => a - b)[Math.ceil(0.95 * count) - 1], max, unavailable };
}

async function bareCount(clickhouse: ClickHouseClient, monitorId: string, matches: number): Promise<boolean[]> {
  const result = await clickhouse.query({
    query: 'SELECT count() AS n FROM matches FINAL WHERE monitor_id = {id: String}',
    query_params: { id: monitorId },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ n: number }>();
  if (Math.abs(row!.n - matches) > 30) throw new Error(`${row!.n} matches instead of ${matches}`);
  return [true];
}

async function ask(
  api: TestApi,
  { apiKey, id, matches }: { apiKey: string; id: string; matches: number },
  path: string,
): Promise<boolean> {
  const { status, body, text } = await api.call(apiKey, 'GET', `/v1/monitors/${id}/${path}`);
  if (status === 503) return false;
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text.slice(0, 500)}`);
  const found = path.startsWith('latency')
    ? measured(body as unknown as Latency)
    : counted(body as unknown as Timeseries);
  // Days of the range are less than all 30; a match counts for each of its keywords; there are 10,000 rows at most.
  if (body.truncated === true) return true;
  if (found < matches / 6 || found > matches * 1.5) throw new Error(`${path}: ${found} of ${matches} matches`);
  return true;
}

const measured = ({ items }: Latency) => items.reduce((sum, day) => sum + (day.seen_to_recorded_ms?.count ?? 0), 0);
const counted = ({ items }: Timeseries) => items.reduce((sum, { count }) => sum + count, 0);
