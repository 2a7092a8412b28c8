import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allMatches } from '../../support/clients/all-matches.ts';
import { fetchThings, readEmitted } from '../../support/clients/emitted-items.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { Installation } from '../../support/children/installation.ts';
import { wordPattern, wordsIn } from '../../support/oracles/naive-word-search.ts';
import { signalTree } from '../../support/children/process-tree.ts';

const SIZES = { postgres: 256, clickhouse: 64 } as const;
type Engine = keyof typeof SIZES;
const WORD = 'rust';

let running: Installation;
let log: string;
let key: string;
let monitor: string;
let created: number;
let services: number | undefined;
/** The engines' own disks; empty if this user may not mount any. */
const mounted = new Map<Engine, string>();

beforeAll(async () => {
  running = await Installation.prepare({ SIMULATOR_RATE: '20' });
  log = join(running.dataDir, 'emitted.jsonl');
  running.env.SIMULATOR_EMITTED_LOG = log;
  // Created on the common disk and then moved, because engines rename their new folders into place.
  await running.start();
  await running.stop();
  for (const engine of ['postgres', 'clickhouse'] as const) giveSmallDisk(engine);
  await running.start();
  key = String(running.admin('account', 'create', '--email', 'full@example.com', '--pack', '79').api_key);
  const made = await running.call(key, 'POST', '/v1/monitors', { name: WORD, keywords: [WORD], nsfw: true });
  monitor = (made.body as { monitor: { id: string } }).monitor.id;
  created = Date.now();
  services = running.find('services-main');
});

afterAll(async () => {
  signalPostgres('SIGCONT');
  await running.stop();
  for (const folder of mounted.values()) execFileSync('umount', ['-l', folder]);
  await running.remove();
});

function giveSmallDisk(engine: Engine): void {
  const folder = join(running.dataDir, engine);
  renameSync(folder, `${folder}.moved`);
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZES[engine]}m`, 'tmpfs', folder], { stdio: 'pipe' });
    mounted.set(engine, folder);
  } catch {
    console.warn(`SKIPPED: a full disk of ${engine}, since mounting a tmpfs is not permitted here`);
  }
  execFileSync('cp', ['-a', `${folder}.moved/.`, folder]);
}

/** Fills an engine's disk. @returns a function that frees the space; undefined if the engine has no own disk */
function fill(engine: Engine): (() => void) | undefined {
  const folder = mounted.get(engine);
  if (folder === undefined) return undefined;
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  for (const bytes of [1 << 20, 4_096]) writeUntilFull(file, Buffer.alloc(bytes));
  closeSync(file);
  return () => rmSync(path);
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    while (writeSync(file, chunk) === chunk.length);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

function signalPostgres(name: 'SIGSTOP' | 'SIGCONT'): void {
  const server = running.find(`${join(running.dataDir, 'postgres')}/`);
  if (server !== undefined) signalTree(server, name);
}

const readiness = async (): Promise<number> => (await fetch(`${running.url}/readyz`)).status;
const matches = () => allMatches(running, key, monitor);
const isAway = async (engine: string) => {
  const metrics = await (await fetch(`${running.endpoints().metrics}/metrics`)).text();
  return new RegExp(`engine_away\\{engine="${engine}",[^}]*\\} 1`).test(metrics);
};

/** The things that a naive search finds among the items that the forum showed since the monitor was created. */
async function wanted(until: number): Promise<string[]> {
  const names = readEmitted(log)
    .filter(({ at, visible_at }) => at >= created && visible_at < until)
    .map(({ name }) => name);
  const things = await fetchThings(running.endpoints().simulator, names);
  const pattern = new Map([[WORD, wordPattern(WORD)]]);
  return names.filter((name) => wordsIn(things.get(name)!, pattern).length > 0);
}

async function expectNothingLost(): Promise<void> {
  const expected = await wanted(Date.now());
  expect(expected.length).toBeGreaterThan(0);
  await eventually(
    'every expected thing is a match',
    async () => {
      const found = new Set((await matches()).map(({ thing_id: id }) => id));
      const missing = expected.filter((name) => !found.has(name));
      if (missing.length > 0) throw new Error(`${missing.length} of ${expected.length} missing: ${missing.join(' ')}`);
      return true;
    },
    60_000,
  );
  // The same process as before: nothing has restarted.
  expect(running.find('services-main')).toBe(services);
}

test("reading, pages and matching continue while ClickHouse's disk is full, and the archive catches up later", async () => {
  await eventually('the first match', async () => (await matches()).length > 0, 60_000);
  const makeRoom = fill('clickhouse');
  if (makeRoom === undefined) return;
  await eventually('the archive waits', () => isAway('clickhouse'), 60_000);
  const had = (await matches()).length;
  await eventually('matches go on', async () => (await matches()).length > had, 60_000);
  expect(await readiness()).toBe(200);
  makeRoom();
  const upTo = (await matches()).length;
  const clickhouse = createClient({ url: running.endpoints().clickhouse });
  await eventually(
    'the archive has caught up',
    async () => {
      const result = await clickhouse.query({
        query: 'SELECT DISTINCT seq FROM matches WHERE monitor_id = {monitor: String}',
        query_params: { monitor },
        format: 'JSONEachRow',
      });
      return (await result.json()).length >= upTo;
    },
    60_000,
  );
  await clickhouse.close();
  await expectNothingLost();
});

test("the services keep running while Postgres's disk is full, and catch up later", async () => {
  const makeRoom = fill('postgres');
  if (makeRoom === undefined) return;
  await eventually('work waits for Postgres', () => isAway('postgres'), 60_000);
  makeRoom();
  await eventually('ready again', async () => (await readiness()) === 200, 90_000);
  await expectNothingLost();
});

test('requests are refused while Postgres hangs, and nothing is lost', async () => {
  signalPostgres('SIGSTOP');
  const refused = await fetch(`${running.url}/v1/account`, { headers: { authorization: `Bearer ${key}` } });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  await eventually('not ready', async () => (await readiness()) === 503);
  const emitted = readEmitted(log).length;
  await eventually('much has happened meanwhile', () => readEmitted(log).length >= emitted + 200, 60_000);
  signalPostgres('SIGCONT');
  await eventually('ready again', async () => (await readiness()) === 200, 60_000);
  await expectNothingLost();
});
