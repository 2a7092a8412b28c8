/**
 * `npm run --silent bench -- soak [--minutes N] [--monitors N] [--rate N]`: an installation with a second process of
 * most services reads a simulated forum of 150 items a second, twice as many in one minute of ten, for N minutes
 * (120): 5,000 monitors, 500 endpoints of which 5 % fail and 2 % never answer, 50 reads a second, edits of rules,
 * and second processes that are stopped and started in turn. Reported: memory and file handles by process with their
 * slopes after the first 20 minutes (or the first third), lags, tables, the time from append to webhook, and at the
 * end what is lost, recorded twice, numbered with holes or charged wrongly, compared with the simulator's log.
 */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { TOPICS } from '../../../schemas/messages/topics.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { findLedgerMismatches } from '../../../shared/billing/ledger-check.ts';
import { cleanUpAfter } from '../../support/children/clean-up-after.ts';
import { Installation } from '../../support/children/installation.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { Report } from '../main.ts';
import { machineFigures } from '../shared/machine.ts';
import { topicBytes } from '../shared/topic-bytes.ts';
import { readRecorded } from '../../support/oracles/recorded-matches.ts';
import { compare, expectedPairs, latencies } from './compare.ts';
import { Resources } from '../shared/resources.ts';
import { startEndpoints } from './soak-endpoints.ts';
import type { SoakEndpoints } from './soak-endpoints.ts';
import { edit, peaks, Readers, restart } from './soak-load.ts';
import { ForumCalls } from './forum-calls.ts';
import { COMMUNITIES, createMonitors } from './soak-monitors.ts';
import type { SoakMonitor } from './soak-monitors.ts';
import { Stores } from './stores.ts';

const SECOND_SERVICES = ['matcher', 'recorder', 'archiver', 'deliverer', 'crawler'];
const ENDPOINTS = 500;
const READS_PER_SECOND = 50;
const SAMPLE_EVERY_MS = 10_000;
/** A monitor sees what is created after it; what is created about then may be found or not. */
const MARGIN_MS = 5_000;
/** What is shown last has this time to arrive, before deliveries are compared. */
const SETTLE_MS = 60_000;
/** A restart counts from its signal until this long after, a consumer's session and more. */
const RESTART_MS = 40_000;

interface Soak {
  installation: Installation;
  second: Map<string, ServiceProcess>;
  endpoints: SoakEndpoints;
  monitors: SoakMonitor[];
  /** Where the second crawler tells its metrics. */
  crawlerMetrics: string;
  rate: number;
  minutes: number;
  log: string;
}

interface Samplers {
  resources: Resources;
  stores: Stores;
  calls: ForumCalls;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({ args, options: { minutes: text('120'), monitors: text('5000'), rate: text('150') } });
  const endpoints = await startEndpoints();
  const installation = await Installation.prepare({
    SECRET_KEY: 'a key of the benchmark, not of anybody',
    SIMULATOR_RATE: values.rate,
    SIMULATOR_COMMUNITIES: String(COMMUNITIES),
    SIMULATOR_CALLS_PER_10MIN: '60000',
    CRAWL_SOURCES: 'post-ids,comment-ids,listings,threads',
  });
  const log = (installation.env.SIMULATOR_EMITTED_LOG = join(installation.dataDir, 'emitted.jsonl'));
  const second = new Map<string, ServiceProcess>();
  const work = async () => {
    report({ run: 'machine, before', ...(await machineFigures()) });
    const crawlerMetrics = await start(installation, second);
    const monitors = await createMonitors(installation, {
      count: Number(values.monitors),
      endpoints: ENDPOINTS,
      urlOf: (endpoint) => endpoints.urlOf(endpoint),
    });
    console.error(`${monitors.length} monitors are watching`);
    const soak = { installation, second, endpoints, monitors, crawlerMetrics, log };
    await run(report, { ...soak, rate: Number(values.rate), minutes: Number(values.minutes) });
  };
  await cleanUpAfter(work, [
    () => [...second.values()].map((process) => process.stop()),
    () => [installation.remove()],
    () => [endpoints.stop()],
  ]);
  report({ run: 'machine, after', ...(await machineFigures()) });
}

/** Starts the installation and the second processes; returns where the second crawler tells its metrics. */
async function start(installation: Installation, second: Map<string, ServiceProcess>): Promise<string> {
  await installation.start(120_000);
  const { METRICS_PORT: _ours, ...env } = installation.fullEnv;
  const port = await freePort();
  for (const service of SECOND_SERVICES) {
    const own = service === 'crawler' ? { METRICS_PORT: String(port) } : {};
    const process = new ServiceProcess(service, { ...env, ...own }, { ownSession: true });
    process.start();
    second.set(service, process);
  }
  return `http://127.0.0.1:${port}`;
}

async function run(report: Report, soak: Soak): Promise<void> {
  const { installation, second, monitors, minutes } = soak;
  const { postgres, simulator, metrics } = installation.endpoints();
  const pool = createPool({ url: postgres, name: 'bench', logger: silentLogger() });
  try {
    const from = Date.now() + MARGIN_MS;
    const ending = new AbortController();
    const { signal } = ending;
    const readers = new Readers(installation, monitors);
    const resources = new Resources();
    const stores = new Stores(pool, metrics);
    const calls = new ForumCalls([metrics, soak.crawlerMetrics]);
    const edited = monitors.filter(({ isEdited }) => isEdited);
    const load = Promise.all([
      readers.run(READS_PER_SECOND, signal),
      edit(installation, edited, signal),
      restart(second, Math.max(60_000, Math.min(10, minutes / 6) * 60_000), signal),
      peaks(simulator, soak.rate, signal),
      sample(soak, { resources, stores, calls }, signal),
    ]);
    await Promise.race([load, wait(minutes * 60_000)]);
    ending.abort();
    const [, edits, restarts, begun] = await load;
    const to = Date.now();
    await wait(SETTLE_MS);
    const recorded = await readRecorded(
      pool,
      monitors.map(({ id }) => id),
    );
    const spans = {
      restarts: restarts.map(({ at }) => [at - 1_000, at + RESTART_MS] as const),
      peaks: begun.map((at) => [at, at + 60_000] as const),
      whole: [from, to] as const,
    };
    for (const line of latencies(recorded, soak.endpoints.arrivals, spans)) report(line);
    for (const line of readers.report()) report(line);
    for (const line of resources.growth(Math.min(20, minutes / 3))) report({ run: 'resources', ...line });
    for (const line of await stores.report()) report(line);
    for (const line of calls.report((to - from) / 60_000)) report(line);
    report({ run: 'topics, MB', ...topicSizes(installation.dataDir) });
    report({ run: 'archive', ...(await archiveSizes(installation.endpoints().clickhouse)) });
    report({ run: 'edits', ...edits, restarts: restarts.length });
    const expected = await expectedPairs(soak.log, monitors, { from, to });
    report({ run: 'all together', minutes, ...(await compare(expected, { recorded, ...soak, simulator })) });
    report({ run: 'money', ...(await money(pool)), own_ends: ownEnds(second) });
  } finally {
    await pool.end();
  }
}

/** Samples until `signal` is aborted, with a line of progress a minute. */
async function sample({ installation, second }: Soak, { resources, stores, calls }: Samplers, signal: AbortSignal) {
  for (let turn = 0; !signal.aborted; turn++) {
    const kinds = new Map([...second].map(([service, process]) => [process.pid!, `second ${service}`]));
    resources.take([installation.pid, ...kinds.keys()], kinds, 'the benchmark itself');
    await calls.sample();
    if (turn % 6 === 0) console.error(`${new Date().toISOString()} ${await stores.sample()}`);
    await wait(SAMPLE_EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

function topicSizes(dataDir: string): Record<string, number> {
  const sizes = TOPICS.map(({ name }) => [name, Math.round(topicBytes(dataDir, name) / 2 ** 20)] as const);
  return Object.fromEntries(sizes.filter(([, megabytes]) => megabytes > 0));
}

/** Rows and bytes of the tables in ClickHouse. */
async function archiveSizes(url: string): Promise<object> {
  const client = createClickhouse(url, 'bench');
  try {
    const answer = await client.query({
      query: `SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
        WHERE active AND database = currentDatabase() GROUP BY table HAVING rows > 1000 ORDER BY table`,
      format: 'JSONEachRow',
    });
    const tables = await answer.json<{ table: string; rows: number; bytes: number }>();
    return Object.fromEntries(tables.map(({ table, ...sizes }) => [table, sizes]));
  } finally {
    await client.close();
  }
}

function ownEnds(second: ReadonlyMap<string, ServiceProcess>): object {
  return Object.fromEntries([...second].map(([name, process]) => [name, process.ownEnds]));
}

/** Accounts whose balance is not what their ledger says. */
async function money(pool: Pool): Promise<object> {
  const { mismatches } = await findLedgerMismatches(pool, '', 1_000);
  return { balances_differ_from_ledger: mismatches.length };
}
