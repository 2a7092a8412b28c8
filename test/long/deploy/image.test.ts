import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import '../../support/runner/provided-context.ts';
import { startSimulatorProcess } from '../../support/children/simulator-process.ts';
import type { SimulatorProcess } from '../../support/children/simulator-process.ts';
import {
  administrate,
  dropTestDatabase,
  newDatabaseName,
  withDatabase,
} from '../../support/fixtures/database-administration.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { createKafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import type { KafkaFixture } from '../../support/fixtures/kafka-fixture.ts';
import { createTestClickhouse } from '../../support/fixtures/test-clickhouse.ts';
import type { TestClickhouse } from '../../support/fixtures/test-clickhouse.ts';

const ROOT = join(import.meta.dirname, '../../..');
const WORKERS = ['archiver', 'biller', 'crawler', 'deliverer', 'matcher', 'recorder'];
/** The image's user. Root could write to a read-only file system. */
const USER = process.getuid?.() === 0 ? { uid: 1_000, gid: 1_000 } : {};

const folder = mkdtempSync(join(tmpdir(), 'forum-test-image-'));
const app = join(folder, 'app');
const data = join(folder, 'data');
/** The image's user may not be able to read the checkout. */
const node = join(folder, 'node');
const database = newDatabaseName();
let kafka: KafkaFixture;
let archive: TestClickhouse;
let forum: SimulatorProcess;
let env: Record<string, string>;
let ports: { api: string; apiMetrics: string; workersMetrics: string };
const running: ChildProcess[] = [];

beforeAll(async () => {
  execFileSync('bash', ['scripts/image-root.sh', folder, '--from-node-modules'], { cwd: ROOT });
  chmodSync(folder, 0o755);
  copyFileSync(process.execPath, node);
  execFileSync('mkdir', [data]);
  if (USER.uid !== undefined) chownSync(data, USER.uid, USER.gid);
  execFileSync('chmod', ['-R', 'a-w', app]);
  await administrate(inject('postgresUrl'), `CREATE DATABASE ${database}`);
  [kafka, archive, forum] = await Promise.all([
    createKafkaFixture(),
    createTestClickhouse(),
    startSimulatorProcess({ SIMULATOR_RATE: '20' }),
  ]);
  ports = {
    api: String(await freePort()),
    apiMetrics: String(await freePort()),
    workersMetrics: String(await freePort()),
  };
  env = {
    NODE_ENV: 'production',
    DATA_DIR: data,
    DATABASE_URL: withDatabase(inject('postgresUrl'), database),
    CLICKHOUSE_URL: archive.url,
    KAFKA_BROKERS: inject('kafkaBrokers'),
    KAFKA_TOPIC_PREFIX: kafka.prefix,
    FORUM_EMBEDDED: 'kafka',
    SECRET_KEY: 'k'.repeat(32),
    UPSTREAM_URL: forum.url,
    UPSTREAM_TOKEN_URL: `${forum.url}/api/v1/access_token`,
    UPSTREAM_CLIENTS: 'simulator:simulator',
    LOG_LEVEL: 'warn',
  };
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await forum.stop();
  await Promise.all([kafka.drop(), archive.drop(), dropTestDatabase(inject('postgresUrl'), database)]);
  execFileSync('chmod', ['-R', 'u+w', folder]);
  rmSync(folder, { recursive: true });
});

/** Runs a file of the image, as its entry point does. */
function start(args: readonly string[], more: Record<string, string>): ChildProcess & { output: string } {
  const child = Object.assign(
    spawn(node, args, {
      cwd: app,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...USER,
    }),
    { output: '' },
  );
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (child.output += chunk.toString()));
  }
  running.push(child);
  return child;
}

async function run(...args: string[]) {
  const child = start(args, {});
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: child.output };
}

const isHealthy = (metricsPort: string) =>
  spawnSync(node, ['deploy/healthcheck.mjs'], { cwd: app, env: { METRICS_PORT: metricsPort } }).status === 0;

async function untilHealthy(child: ChildProcess & { output: string }, metricsPort: string) {
  await eventually(
    'the health check passes',
    () => {
      if (child.exitCode !== null) throw new Error(`it ended: ${child.output}`);
      return isHealthy(metricsPort);
    },
    180_000,
  );
}

async function end(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'exit') as Promise<[number | null]>;
  child.kill('SIGTERM');
  return (await ended)[0];
}

test('the services run from the read-only files of the image against servers that are named by URL', async () => {
  const files = readdirSync(app, { recursive: true }).length;
  expect(await run('services/admin/main.ts', 'migrate')).toMatchObject({ code: 0 });
  expect(isHealthy(ports.apiMetrics)).toBe(false);

  const api = start(['services/main.ts', 'api'], { PORT: ports.api, METRICS_PORT: ports.apiMetrics });
  const workers = start(['services/main.ts', ...WORKERS], { METRICS_PORT: ports.workersMetrics });
  await Promise.all([untilHealthy(api, ports.apiMetrics), untilHealthy(workers, ports.workersMetrics)]);
  const url = `http://127.0.0.1:${ports.api}`;
  await eventually('it is ready', async () => (await fetch(`${url}/readyz`)).status === 200);
  const ready = (await (await fetch(`http://127.0.0.1:${ports.workersMetrics}/readyz`)).json()) as { parts: object };
  expect(Object.keys(ready.parts)).toEqual(['postgres', 'clickhouse', 'kafka', ...WORKERS]);

  const created = await run('services/admin/main.ts', 'account', 'create', '--email', 'image@example.com');
  const { api_key: key } = JSON.parse(created.output) as { api_key: string };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'image', keywords: ['coffee', 'python', 'rust', 'update', 'release'] });
  const monitor = await fetch(`${url}/v1/monitors`, { method: 'POST', headers, body });
  expect(monitor.status).toBe(201);
  const { id } = ((await monitor.json()) as { monitor: { id: string } }).monitor;
  await eventually('a match', async () => {
    const page = await fetch(`${url}/v1/monitors/${id}/matches`, { headers });
    return ((await page.json()) as { items: unknown[] }).items.length > 0;
  });

  expect(await Promise.all([end(api), end(workers)])).toEqual([0, 0]);
  expect(isHealthy(ports.apiMetrics)).toBe(false);
  expect(readdirSync(app, { recursive: true }).length).toBe(files);
});
