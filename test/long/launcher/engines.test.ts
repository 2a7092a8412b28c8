import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import kafkajs from 'kafkajs';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import type { EngineName } from '../../../services/launcher/engines/engine.ts';
import { readJsonFile } from '../../../shared/runtime/endpoints-file.ts';
import { identifyProcess } from '../../../shared/runtime/process-identity.ts';
import { parseBrokers } from '../../../shared/kafka/broker-list.ts';
import { eventually } from '../../support/fixtures/eventually.ts';

const ENGINES = ['kafka', 'postgres', 'clickhouse'] as const;
const root = mkdtempSync(join(tmpdir(), 'forum-engines-test-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Urls = Record<EngineName, string>;

async function onPostgres(urls: Urls, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: urls.postgres });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function onClickhouse(urls: Urls, sql: string): Promise<string> {
  const client = createClient({ url: urls.clickhouse });
  try {
    const { stream } = await client.exec({ query: sql });
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return text.trim();
  } finally {
    await client.close();
  }
}

function admin(urls: Urls) {
  const { Kafka, logLevel } = kafkajs;
  return new Kafka({ ...parseBrokers([urls.kafka]), logLevel: logLevel.NOTHING }).admin();
}

/** How much lower the priority of a process's thread of this name is than ours; undefined where that is not known. */
function nicenessOf(pid: number, name: string): number | undefined {
  const folder = `/proc/${pid}/task`;
  if (!existsSync(folder)) return undefined;
  const stats = readdirSync(folder).map((thread) => readFileSync(join(folder, thread, 'stat'), 'utf8'));
  const stat = stats.find((text) => text.includes(`(${name})`));
  return stat === undefined ? undefined : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) - getPriority();
}

/** Data in each engine that must survive every crash. */
async function fill(urls: Urls): Promise<void> {
  await onPostgres(urls, 'CREATE TABLE kept AS SELECT 42 AS answer');
  await onClickhouse(urls, 'CREATE TABLE kept (answer UInt8) ENGINE = MergeTree ORDER BY answer');
  await onClickhouse(urls, 'INSERT INTO kept VALUES (42)');
  const client = admin(urls);
  await client.connect();
  await client.createTopics({ topics: [{ topic: 'kept', numPartitions: 3 }], waitForLeaders: true });
  await client.disconnect();
}

async function expectFilled(urls: Urls): Promise<void> {
  expect(await onPostgres(urls, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  expect(await onClickhouse(urls, 'SELECT answer FROM kept')).toBe('42');
  const client = admin(urls);
  await client.connect();
  expect(await client.listTopics()).toContain('kept');
  await client.disconnect();
}

describe('embedded engines', () => {
  let running: { stop(): Promise<void> } | undefined;
  afterEach(async () => running?.stop());

  test('start in an empty directory, restart with the same ports and data, and survive kill -9 of each', async () => {
    const dataDir = join(root, 'one');
    const start = () => startEngines({ dataDir, env: process.env, kafkaHeapMb: 256 });
    const first = await start();
    running = first;
    const { urls } = first;
    await fill(urls);
    const clickhouse = first.process('clickhouse').pid;
    expect(getPriority(clickhouse) - getPriority()).toBe(5);
    expect(nicenessOf(clickhouse, 'MergeMutate') ?? 5).toBe(5);
    const pids = ENGINES.map((name) => first.process(name).pid);
    await first.stop();
    expect(pids.filter((pid) => identifyProcess(pid) !== undefined)).toEqual([]);

    const engines = await start();
    running = engines;
    expect(engines.urls).toEqual(urls);
    await expectFilled(urls);

    for (const name of ENGINES) {
      process.kill(engines.process(name).pid, 'SIGKILL');
      expect(await engines.process(name).exited).toEqual({ code: null, signal: 'SIGKILL' });
      await engines.restart(name);
      await expectFilled(urls);
    }
  }, 120_000);

  test('give each ClickHouse statement its own settings and placeholders, also after an error', async () => {
    const engines = await startEngines({ dataDir: join(root, 'two'), env: process.env, engines: ['clickhouse'] });
    running = engines;
    const client = createClient({
      url: engines.urls.clickhouse,
      compression: { request: true, response: true },
      log: { level: ClickHouseLogLevel.OFF },
    });
    const rows = async (query: string, parameters = {}, settings = {}) => {
      const options = { format: 'JSONEachRow', query_params: parameters, clickhouse_settings: settings } as const;
      const result = await client.query({ query, ...options });
      return result.json();
    };
    const text = `o'k \\ \n\t; 東京`;
    expect(await rows('SELECT {t:String} AS t, {l:Array(String)} AS l', { t: text, l: [text, ''] })).toEqual([
      { t: text, l: [text, ''] },
    ]);
    await expect(rows('SELECT {t:String}')).rejects.toMatchObject({ code: '456' });
    await expect(rows('SELECT nothing', {}, { max_execution_time: 77 })).rejects.toMatchObject({ code: '47' });
    await client.command({ query: 'SET max_execution_time = 78' });
    for (let statement = 0; statement < 20; statement++) {
      expect(await rows("SELECT getSetting('max_execution_time') AS t")).toEqual([{ t: 0 }]);
    }
    await client.close();
  });
});

/** Starts engines whose owner is a separate process, so that a test can kill it. */
async function startOwner(dataDir: string): Promise<{ owner: ChildProcess; urls: Urls }> {
  const owner = spawn(process.execPath, ['test/support/runner/dev-engines.ts'], {
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = once(createInterface(owner.stdout), 'line') as Promise<[string]>;
  return { owner, urls: JSON.parse((await line)[0]) as Urls };
}

const enginePids = (dataDir: string) =>
  ENGINES.map((name) => (readJsonFile(join(dataDir, 'run', `${name}.pid`)) as { pid: number }).pid);
const living = (pids: number[]) => pids.filter((pid) => identifyProcess(pid) !== undefined);

describe('when the owner of the engines dies', () => {
  test('the engines end by themselves, and the next start finds all data', async () => {
    const dataDir = join(root, 'three');
    const { owner, urls } = await startOwner(dataDir);
    await fill(urls);
    const pids = enginePids(dataDir);
    expect(living(pids)).toEqual(pids);
    owner.kill('SIGKILL');
    await eventually('the engines have ended', () => Promise.resolve(living(pids).length === 0), 60_000);

    const engines = await startEngines({ dataDir, env: process.env });
    expect(engines.urls).toEqual({ kafka: urls.kafka, postgres: urls.postgres, clickhouse: urls.clickhouse });
    await expectFilled(urls);
    await engines.stop();
  }, 120_000);

  test('together with the watchers, the next start ends the orphans and replaces them', async () => {
    const dataDir = join(root, 'four');
    const { owner, urls } = await startOwner(dataDir);
    await fill(urls);
    const orphans = enginePids(dataDir);
    killWatchers(owner.pid!);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(living(orphans)).toEqual(orphans);

    const engines = await startEngines({ dataDir, env: process.env });
    expect(living(orphans)).toEqual([]);
    await expectFilled(urls);
    await engines.stop();
  }, 120_000);
});

function killWatchers(owner: number): void {
  const children = readFileSync(`/proc/${owner}/task/${owner}/children`, 'utf8').trim().split(' ').map(Number);
  const watchers = children.filter((pid) => identifyProcess(pid)?.command?.includes('watch-parent'));
  expect(watchers).toHaveLength(3);
  for (const pid of watchers) process.kill(pid, 'SIGKILL');
  expect(existsSync(`/proc/${owner}`)).toBe(true);
}
