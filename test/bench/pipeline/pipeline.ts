/**
 * `npm run --silent bench -- pipeline [--items N] [--monitors N] [--partitions N] [--processes N] [--profile FILE]`: a
 * dump of N items (375,528) goes through a whole installation as fast as it can: crawl, match against N monitors
 * (1,000) of 20 keywords, record, archive. Reported: items per second, and the processor time of each kind of process
 * for an item. `--partitions`: of both topics of items. `--processes`: how many run the pipeline's services.
 * `--profile`: the file for a profile of the services' main process, which Chrome's developer tools and speedscope show
 * as a flame graph. Every item must be archived once.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import type { ClickHouseClient } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { Installation } from '../../support/children/installation.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import type { Report } from '../main.ts';
import { readCorpus } from '../shared/corpus.ts';
import type { CorpusItem } from '../shared/corpus.ts';
import { startProfile } from '../shared/cpu-profile.ts';
import { sparseMonitors } from '../shared/matcher-monitors.ts';
import { plainText, readVocabulary } from '../shared/matcher-vocabulary.ts';
import { Resources } from '../shared/resources.ts';
import { writeDump } from './forum-dump.ts';

const MONITORS_PER_ACCOUNT = 100;
/** How many matches the keywords of all monitors give an item of the corpus, before it is repeated. */
const MATCHES_PER_ITEM = 0.58;
const ACCOUNTS_AT_ONCE = 4;
const POLL_MS = 200;
/** Nothing has changed for this long: all is done. */
const QUIET_MS = 4_000;
const MAX_SECONDS = 600;
const STEPS = ['matcher', 'recorder', 'archiver'];

interface Options {
  items: number;
  monitors: number;
  processes: number;
  /** The file of the profile. */
  profile: string | undefined;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args,
    options: {
      ...{ items: text('375528'), monitors: text('1000'), partitions: text('2'), processes: text('1') },
      profile: { type: 'string' },
    },
  });
  const options = {
    ...{ items: Number(values.items), monitors: Number(values.monitors), processes: Number(values.processes) },
    profile: values.profile,
  };
  const corpus = readCorpus();
  const folder = mkdtempSync(join(tmpdir(), 'forum-bench-pipeline-'));
  const installation = await Installation.prepare({
    ...{ CRAWL_SOURCES: '', SIMULATOR_RATE: '0', LOG_LEVEL: 'error' },
    KAFKA_PARTITIONS: ['forum.posts', 'forum.comments'].map((topic) => `${topic}=${values.partitions}`).join(','),
  });
  try {
    const dump = await writeDump(join(folder, 'dump.jsonl'), corpus.items, options.items);
    await installation.start();
    await createMonitors(installation, corpus.items, options.monitors);
    await installation.stop();
    installation.env.CRAWL_SOURCES = `replay:${join(folder, 'dump.jsonl')}`;
    const measured = await replay(installation, options);
    report({ corpus: corpus.name, ...values, megabytes: Math.round(dump.bytes / 1e6), ...measured });
  } finally {
    await installation.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function createMonitors(installation: Installation, corpus: readonly CorpusItem[], count: number): Promise<void> {
  const vocabulary = readVocabulary(corpus.map(({ text }) => plainText(text)));
  const options = { count, items: corpus.length, maxPerItem: MATCHES_PER_ITEM, subreddits: ['none'] };
  const rules = [...sparseMonitors(vocabulary, options)].map(({ rule }) => rule.keywords);
  const accounts = Array.from({ length: Math.ceil(count / MONITORS_PER_ACCOUNT) }, (_, account) => account);
  const keys = accounts.map((account) => {
    const args = ['--email', `pipeline${account}@example.com`, '--credits', '1000000', '--pack', '79'];
    return String(installation.admin('account', 'create', ...args).api_key);
  });
  const createOf = async (account: number): Promise<void> => {
    const first = account * MONITORS_PER_ACCOUNT;
    for (const [index, keywords] of rules.slice(first, first + MONITORS_PER_ACCOUNT).entries()) {
      const wanted = { name: `rule ${first + index}`, keywords, nsfw: true };
      const { status, body } = await installation.call(keys[account]!, 'POST', '/v1/monitors', wanted);
      if (status !== 201) throw new Error(`a monitor was answered ${status}: ${JSON.stringify(body)}`);
    }
  };
  const workers = Array.from({ length: ACCOUNTS_AT_ONCE }, async () => {
    for (let account = accounts.shift(); account !== undefined; account = accounts.shift()) await createOf(account);
  });
  await Promise.all(workers);
}

/** Starts the installation, which replays the dump at once, and waits until nothing changes any more. */
async function replay(installation: Installation, options: Options): Promise<object> {
  await installation.start();
  const { postgres, clickhouse } = installation.endpoints();
  const pool = createPool({ url: postgres, name: 'bench', logger: silentLogger(), max: 1 });
  const archive = createClickhouse(clickhouse, 'bench');
  const others = startOthers(installation, options.processes);
  const profiling = options.profile !== undefined ? await startProfile(installation.find('services-main')!) : undefined;
  try {
    const resources = new Resources();
    const endedAt = await untilQuiet(pool, archive, () => {
      resources.take([installation.pid, ...others.map(({ pid }) => pid!)], new Map());
    });
    if (profiling) writeFileSync(options.profile!, JSON.stringify(await profiling.stop()));
    return await figures({ pool, archive, resources, endedAt, items: options.items });
  } finally {
    await Promise.all(others.map((other) => other.stop()));
    await archive.close();
    await pool.end();
  }
}

function startOthers(installation: Installation, processes: number): ServiceProcess[] {
  const { METRICS_PORT: _ours, ...env } = installation.fullEnv;
  const others = Array.from({ length: processes - 1 }, () => new ServiceProcess(STEPS, env));
  for (const other of others) other.start();
  return others;
}

/** Returns when the last change was, in milliseconds since the epoch. */
async function untilQuiet(pool: Pool, archive: ClickHouseClient, sample: () => void): Promise<number> {
  let last = '';
  let changedAt = Date.now();
  const begun = changedAt;
  for (;;) {
    sample();
    const now = JSON.stringify([await countItems(archive), await countMatches(pool)]);
    if (now !== last) [last, changedAt] = [now, Date.now()];
    if (Date.now() - changedAt > QUIET_MS && last !== '[0,0]') return changedAt;
    if (Date.now() - begun > MAX_SECONDS * 1_000) throw new Error(`not done in ${MAX_SECONDS} s: ${now}`);
    await wait(POLL_MS);
  }
}

async function countItems(archive: ClickHouseClient, count = 'count()'): Promise<number> {
  const answer = await archive.query({ query: `SELECT toUInt32(${count}) AS items FROM items`, format: 'JSONEachRow' });
  const [row] = await answer.json<{ items: number }>();
  return row!.items;
}

/** Numbers have no holes, so their sum by monitor is the number of matches. */
async function countMatches(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ matches: string }>(
    'SELECT coalesce(sum(last_seq), 0) AS matches FROM monitor_counters',
  );
  return Number(rows[0]!.matches);
}

async function figures(run: {
  pool: Pool;
  archive: ClickHouseClient;
  resources: Resources;
  endedAt: number;
  items: number;
}): Promise<object> {
  const { pool, archive, resources, endedAt, items } = run;
  const archived = await countItems(archive, 'uniqExact(thing_id)');
  if (archived !== items) throw new Error(`${archived} of ${items} items are archived`);
  const answer = await archive.query({
    query: 'SELECT toUnixTimestamp64Milli(min(first_seen_at)) AS begun FROM items',
    format: 'JSONEachRow',
  });
  const [row] = await answer.json<{ begun: string }>();
  const seconds = (endedAt - Number(row!.begun)) / 1_000;
  const used = Object.entries(resources.seconds());
  const microseconds = used.map(([kind, spent]) => [kind, Math.round((spent * 1e6) / items)] as const);
  return {
    matches: await countMatches(pool),
    seconds: Math.round(seconds * 10) / 10,
    items_per_s: Math.round(items / seconds),
    cpu_us_an_item: Object.fromEntries(microseconds),
    cpu_us_an_item_all: microseconds.reduce((sum, [, spent]) => sum + spent, 0),
  };
}
