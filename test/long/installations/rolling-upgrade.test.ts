import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migratePostgres } from '../../../shared/postgres/migrate-postgres.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import { Installation } from '../../support/children/installation.ts';
import { ServiceProcess } from '../../support/children/service-process.ts';
import { startWebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import type { WebhookReceiver } from '../../support/fakes/webhook-receiver.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { ExpectedPairs } from '../../support/oracles/expected-pairs.ts';
import { readRecorded } from '../../support/oracles/recorded-matches.ts';

const MIGRATIONS = join(import.meta.dirname, '../../../schemas/postgres');
const KEYWORDS = ['rust', 'coffee', 'python'];
const CLIENTS = 4;
const BETWEEN_MS = 60;
/** Many times what a busy machine takes to ask whether a process is ready. */
const DRAIN_SECONDS = 10;

/** What a next release may add to a database that this one works on, besides a column to each table. */
const NEXT_RELEASE = {
  '9998_its_table.sql': 'CREATE TABLE added_later (id integer PRIMARY KEY);',
  '9999_its_index.js': `export const up = (pgm) => {
      pgm.noTransaction();
      pgm.sql('CREATE INDEX CONCURRENTLY IF NOT EXISTS matches_added_later ON matches (added_later)');
    };
    export const down = false;`,
};

let running: Installation;
let receiver: WebhookReceiver;
let pool: Pool;
/** Of each client, because one account may ask only 20 times a second. */
let keys: string[];
let folder: string;
/** All API processes. */
const started: ServiceProcess[] = [];
let watching: ReturnType<ExpectedPairs['watch']> | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'forum-test-upgrade-'));
  running = await Installation.prepare({ SIMULATOR_RATE: '30' });
  running.env.SIMULATOR_EMITTED_LOG = join(folder, 'emitted.jsonl');
  await running.start();
  receiver = await startWebhookReceiver();
  pool = createPool({ url: running.endpoints().postgres, name: 'test', logger: silentLogger() });
  keys = Array.from({ length: CLIENTS }, (_, turn) => {
    const account = ['account', 'create', '--email', `upgrade${turn}@example.com`, '--pack', '79'];
    return String(running.admin(...account).api_key);
  });
});

afterAll(async () => {
  await Promise.all(started.map((process) => process.stop()));
  await watching?.stop();
  await pool.end();
  await running.remove();
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function createMonitor(keyword: string): Promise<string> {
  const body = { name: keyword, keywords: [keyword], nsfw: true, webhook_url: receiver.url };
  const { status, body: answer } = await running.call(keys[0]!, 'POST', '/v1/monitors', body);
  expect(status).toBe(201);
  return (answer as { monitor: { id: string } }).monitor.id;
}

/** An API process of its own, as a container is: it drains before it ends. */
async function startApi(): Promise<{ url: string; process: ServiceProcess; stop(): Promise<void> }> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const env = {
    ...running.fullEnv,
    PORT: String(port),
    METRICS_PORT: String(metricsPort),
    DRAIN_SECONDS: String(DRAIN_SECONDS),
  };
  const process = new ServiceProcess('api', env);
  started.push(process);
  process.start();
  const url = `http://127.0.0.1:${port}`;
  await eventually('the API process is ready', async () => (await fetch(`${url}/readyz`)).status === 200);
  return { url, process, stop: () => process.stop() };
}

/** A load balancer's view of the processes, and clients behind it that keep their connections open. */
class Balancer {
  readonly faults: string[] = [];
  answered = 0;
  #targets: string[] = [];
  readonly #ready = new Set<string>();
  readonly #underWay = new Set<string>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  #isStopping = false;
  #loops: Promise<void>[] = [];

  async begin(targets: string[]): Promise<void> {
    this.setTargets(targets);
    await Promise.all(targets.map((url) => this.#probe(url)));
    this.#loops = [this.#probing(), ...keys.map((key) => this.#ask(key))];
  }

  setTargets(targets: string[]): void {
    this.#targets = targets;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#loops);
    this.#agent.destroy();
  }

  async #probing(): Promise<void> {
    while (!this.#isStopping) {
      for (const url of this.#targets) void this.#probe(url);
      await wait(200);
    }
  }

  /** Each process is asked without waiting for the others. */
  async #probe(url: string): Promise<void> {
    if (this.#underWay.has(url)) return;
    this.#underWay.add(url);
    const status = await fetch(`${url}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) this.#ready.add(url);
    else this.#ready.delete(url);
    this.#underWay.delete(url);
  }

  async #ask(key: string): Promise<void> {
    for (let turn = 0; !this.#isStopping; turn++) {
      const ready = this.#targets.filter((url) => this.#ready.has(url));
      const target = ready[turn % ready.length];
      const outcome = target === undefined ? 'no process is ready' : await this.#get(`${target}/v1/account`, key);
      if (outcome === '200') this.answered++;
      else this.faults.push(outcome);
      await wait(BETWEEN_MS);
    }
  }

  #get(url: string, key: string): Promise<string> {
    const options = { agent: this.#agent, headers: { authorization: `Bearer ${key}` } };
    return new Promise((resolve) => {
      const sent = request(url, options, (response) => {
        response.resume();
        response.once('end', () => resolve(String(response.statusCode)));
      });
      sent.once('error', (error) => resolve(String(error)));
      sent.end();
    });
  }
}

async function migrateToNextRelease(): Promise<void> {
  const next = join(folder, 'migrations');
  cpSync(MIGRATIONS, next, { recursive: true });
  const { rows } = await pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migrations'`,
  );
  // A file each, because a transaction that locks several tables meets deadlocks with services at work.
  for (const [index, { name }] of rows.entries()) {
    const column = `ALTER TABLE ${name} ADD COLUMN added_later integer NOT NULL DEFAULT 7;`;
    writeFileSync(join(next, `${9_001 + index}_${name}.sql`), column);
  }
  for (const [file, text] of Object.entries(NEXT_RELEASE)) writeFileSync(join(next, file), text);
  // It gives up where a table stays taken for a second, and is called again.
  const migrate = () => migratePostgres(running.endpoints().postgres, silentLogger(), { folder: next, pauseMs: 500 });
  const tries = { logger: silentLogger(), retries: 60, maxMs: 500, isRetryable: isPostgresUnavailable };
  await retry(migrate, { what: 'migrating', ...tries });
  const clickhouse = createClient({ url: running.endpoints().clickhouse });
  const tables = await clickhouse.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    format: 'JSONEachRow',
  });
  for (const { name } of await tables.json<{ name: string }>()) {
    await clickhouse.command({ query: `ALTER TABLE ${name} ADD COLUMN added_later UInt8 DEFAULT 7` });
  }
  await clickhouse.close();
}

test('this release works on while the schema of the next one is applied, and its processes are replaced without an error for a client', async () => {
  const expected = new ExpectedPairs(running);
  for (const keyword of KEYWORDS) expected.add(await createMonitor(keyword), keyword);
  watching = expected.watch(Date.now());
  let [first, second] = await Promise.all([startApi(), startApi()]);
  const balancer = new Balancer();
  await balancer.begin([first.url, second.url]);
  await eventually('webhooks flow', () => receiver.received.length > 5);

  await migrateToNextRelease();
  const third = await startApi();
  balancer.setTargets([first.url, second.url, third.url]);
  await first.stop();
  first = third;
  const fourth = await startApi();
  balancer.setTargets([first.url, second.url, fourth.url]);
  await second.stop();
  second = fourth;
  const services = running.find('services-main')!;
  process.kill(services, 'SIGTERM');
  await eventually('new processes of the pipeline', () => {
    const now = running.find('services-main');
    return now !== undefined && now !== services;
  });
  const seen = receiver.received.length;
  await eventually('webhooks flow again', () => receiver.received.length > seen + 5);

  await balancer.stop();
  await watching.stop();
  watching = undefined;
  await Promise.all([first.stop(), second.stop()]);
  expect(balancer.faults).toEqual([]);
  expect(balancer.answered).toBeGreaterThan(100);
  expect([first, second].map(({ process }) => process.ownEnds)).toEqual([0, 0]);
  await eventually('nothing is lost', async () => {
    const found = expected.compare(await readRecorded(pool, expected.monitors()), receiver);
    expect(found).toMatchObject({ lost: [], twice: 0, holes: 0, webhooks_missing: 0 });
    expect(found.expected).toBeGreaterThan(0);
    return true;
  });
  const { rows } = await pool.query<{ later: number }>('SELECT DISTINCT added_later AS later FROM matches');
  expect(rows).toEqual([{ later: 7 }]);
});
