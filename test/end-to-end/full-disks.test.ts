import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@clickhouse/client';
import { afterEach, expect, test } from 'vitest';
import { allMatches } from '../support/all-matches.ts';
import { eventually } from '../support/eventually.ts';
import { Installation } from '../support/installation.ts';

const SIZES = { postgres: 256, clickhouse: 64 } as const;
type Engine = keyof typeof SIZES;

let installation: Installation | undefined;
let mounted: string | undefined;

afterEach(async () => {
  await installation?.stop();
  if (mounted !== undefined) execFileSync('umount', ['-l', mounted]);
  await installation?.remove();
  installation = undefined;
  mounted = undefined;
});

/** An installation one of whose engines has a small disk of its own; undefined where this user may not mount one. */
async function withSmallDisk(engine: Engine): Promise<Installation | undefined> {
  const prepared = await Installation.prepare({ SIMULATOR_RATE: '20' });
  installation = prepared;
  const folder = join(prepared.dataDir, engine);
  // Made on the common disk and moved: Postgres puts its folder into place by its name.
  await prepared.start();
  await prepared.stop();
  renameSync(folder, `${folder}.moved`);
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZES[engine]}m,mode=0755`, 'tmpfs', folder], {
      stdio: 'pipe',
    });
  } catch {
    console.warn(`SKIPPED: ${engine}'s full disk, as mounting a tmpfs is not permitted here`);
    return undefined;
  }
  mounted = folder;
  execFileSync('cp', ['-a', `${folder}.moved/.`, folder]);
  await prepared.start();
  return prepared;
}

/** Leaves no byte on the disk of the folder. */
function fill(folder: string): () => void {
  const path = join(folder, 'filler');
  const file = openSync(path, 'w');
  const filled = (bytes: number) => {
    const chunk = Buffer.alloc(bytes);
    try {
      for (;;) if (writeSync(file, chunk) < bytes) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  };
  filled(1 << 20);
  filled(4_096);
  closeSync(file);
  return () => rmSync(path);
}

function newKey(running: Installation): string {
  return String(running.admin('account', 'create', '--email', 'full@example.com', '--pack', '79').api_key);
}

async function newMonitor(running: Installation, key: string): Promise<string> {
  const made = await running.call(key, 'POST', '/v1/monitors', { name: 'common', keywords: ['the'], nsfw: true });
  return (made.body as { monitor: { id: string } }).monitor.id;
}

async function metric(running: Installation, line: RegExp): Promise<boolean> {
  return line.test(await (await fetch(`${running.endpoints().metrics}/metrics`)).text());
}

test('ClickHouse with a full disk: nothing dies, reading and matching go on, and every match is archived afterwards', async () => {
  const running = await withSmallDisk('clickhouse');
  if (running === undefined) return;
  const key = newKey(running);
  const monitor = await newMonitor(running, key);
  const services = running.find('services-main');
  await eventually('the first match', async () => (await allMatches(running, key, monitor)).length > 0);
  const makeRoom = fill(mounted!);
  await eventually('the archive waits', () => metric(running, /engine_away\{engine="clickhouse",[^}]*\} 1/), 60_000);
  const had = (await allMatches(running, key, monitor)).length;
  await eventually('matches go on', async () => (await allMatches(running, key, monitor)).length >= had + 5);
  expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
  makeRoom();
  const before = await allMatches(running, key, monitor);
  const clickhouse = createClient({ url: running.endpoints().clickhouse });
  await eventually(
    'the archive has caught up',
    async () => {
      const result = await clickhouse.query({
        query: 'SELECT DISTINCT seq FROM matches WHERE monitor_id = {monitor: String}',
        query_params: { monitor },
        format: 'JSONEachRow',
      });
      return (await result.json()).length >= before.length;
    },
    60_000,
  );
  await clickhouse.close();
  expect(running.find('services-main')).toBe(services);
});

test('Postgres with a full disk: the services live on, requests are answered, and no match is lost', async () => {
  const running = await withSmallDisk('postgres');
  if (running === undefined) return;
  const key = newKey(running);
  const monitor = await newMonitor(running, key);
  const services = running.find('services-main');
  await eventually('the first match', async () => (await allMatches(running, key, monitor)).length > 0);
  const makeRoom = fill(mounted!);
  await eventually('the recorder waits', () => metric(running, /engine_away\{engine="postgres",[^}]*\} 1/), 60_000);
  const refused = await fetch(`${running.url}/v1/monitors`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'another', keywords: ['rust'] }),
  });
  expect([201, 503]).toContain(refused.status);
  makeRoom();
  await eventually('ready again', async () => (await fetch(`${running.url}/readyz`)).status === 200, 90_000);
  const had = await allMatches(running, key, monitor);
  await eventually('matches go on', async () => (await allMatches(running, key, monitor)).length > had.length, 60_000);
  // Numbered without a hole.
  const all = await allMatches(running, key, monitor);
  expect(new Set(all.map(({ thing_id }) => thing_id)).size).toBe(all.length);
  expect(running.find('services-main')).toBe(services);
});
