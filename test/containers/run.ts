import { mkdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Customer } from './customer.ts';
import { checkNeighbours, startNeighbours } from './neighbours.ts';
import { confined, startToReady, stopWhileStarting } from './one-container.ts';
import {
  compose,
  composeWith,
  container,
  inspect,
  killAndAwait,
  podman,
  set,
  stage,
  untilHealthy,
  up,
} from './podman.ts';

const ENGINES = ['kafka', 'postgres', 'clickhouse'];
const SERVICES = ['api', 'api-2', 'workers'];
/** Of the customer's requests, how many may fail while a container is killed: what it was doing, or what needs it. */
const MAY_FAIL: Record<string, number> = { api: 1, 'api-2': 1, postgres: Infinity };
const ADMIN = 'services/admin/main.ts';

export async function runInstallation(): Promise<void> {
  const started = performance.now();
  await stage('engines and simulator are healthy', () => up([...ENGINES, 'simulator']));
  await stage('migrate', migrate);
  await stage('proxy, mail server, payments, collector, Prometheus', startNeighbours);
  await stage('api and workers are healthy', () => up(SERVICES));
  console.log(`start to ready: ${((performance.now() - started) / 1_000).toFixed(0)} s`);
  await stage('containers are confined as compose says', () => confined([...SERVICES, 'simulator']));
  await stage('SIGTERM to the API', stopWhileStarting);
  await stage('start of the API to ready, engines up', startToReady);
  await untilHealthy(['api']);
  let customer!: Customer;
  await stage('account by the admin program, monitors by the API', async () => {
    const account = ['account', 'create', '--email', 'you@example.com', '--credits', '500', '--pack', '79'];
    const created = await compose('exec', '-T', 'api', 'node', ADMIN, ...account);
    customer = new Customer((JSON.parse(created) as { api_key: string }).api_key);
    await customer.createMonitors();
  });
  await stage('first signed webhook', () => until('a webhook', () => customer.received.size > 0));
  await checkNeighbours(customer);
  customer.load();
  await upgrade(customer);
  for (const service of [...SERVICES, 'simulator', ...ENGINES]) {
    await stage(`kill ${service}`, async () => {
      const seconds = await killAndAwait(service);
      const failures = await customer.takeFailures(MAY_FAIL[service] ?? 0);
      return `healthy again after ${seconds.toFixed(1)} s; ${failures}`;
    });
  }
  await stage('every match is received once by id', () => settled(customer));
  customer.rest();
  await restoreBackup(customer);
}

/** Podman's compose takes a container that was only created for one that has ended, so this one is waited for. */
async function migrate(): Promise<void> {
  await compose('up', '--detach', '--no-deps', 'migrate');
  const code = await podman('wait', container('migrate'));
  if (code !== '0') throw new Error(`migrate ended with ${code}: ${await podman('logs', container('migrate'))}`);
}

/** By the steps of deploy/README.md, under the load of the customer. */
async function upgrade(customer: Customer): Promise<void> {
  await podman('tag', 'forum-monitor:1.0.0', 'forum-monitor:1.0.1');
  set('FORUM_VERSION', '1.0.1');
  await stage('upgrade: migrate', async () => {
    await compose('run', '--rm', '--no-deps', 'migrate');
    return customer.takeFailures(0);
  });
  for (const service of ['workers', 'api', 'api-2']) {
    await stage(`upgrade: ${service}`, async () => {
      const from = performance.now();
      await compose('stop', service);
      const seconds = ((performance.now() - from) / 1_000).toFixed(1);
      const code = await inspect(service, '.State.ExitCode');
      if (code !== '0') throw new Error(`${service} ended with ${code} after ${seconds} s`);
      await up([service], '--no-deps');
      if (!(await inspect(service, '.ImageName')).endsWith(':1.0.1')) throw new Error(`${service} was not replaced`);
      return `SIGTERM ended it after ${seconds} s; ${await customer.takeFailures(0)}`;
    });
  }
}

/** By the steps of docs/operate/backup.md, in compose, with a new volume for each engine. */
async function restoreBackup(customer: Customer): Promise<void> {
  const inPostgres = async (...command: string[]) => {
    const database = 'DATABASE_URL=postgres://forum:trial@postgres:5432/forum';
    const volumes = ['--volume', '/project/deploy/backup:/scripts:ro', '--volume', '/tmp/backups:/backups'];
    const options = ['--network', 'forum-monitor_default', '--user', '0:0', '--env', database, ...volumes];
    return podman('run', '--rm', ...options, await inspect('postgres', '.ImageName'), 'bash', ...command);
  };
  mkdirSync('/tmp/backups');
  let before = '';
  await stage('back-up.sh, of a server at rest', async () => {
    await compose('stop', ...SERVICES);
    before = await checksums();
    await inPostgres('/scripts/back-up.sh', '/backups/one');
  });
  await stage('the volumes of the engines are removed', async () => {
    await compose('down');
    await podman('volume', 'rm', ...ENGINES.map((name) => `forum-monitor_${name}`));
    await up([...ENGINES, 'simulator']);
  });
  await stage('restore.sh', async () => {
    await inPostgres('/scripts/restore.sh', '/backups/one');
    const after = await checksums();
    const lines = after.split('\n');
    const changed = lines.filter((line) => !before.split('\n').includes(line));
    if (after !== before) throw new Error(`the restored database differs: ${changed.join(', ')}`);
    const rows = lines.reduce((sum, line) => sum + Number(line.split('|')[1]), 0);
    return `${lines.length} tables with ${rows} rows have the checksums of before`;
  });
  await stage('restore finish', async () => {
    const takenAt = readFileSync('/tmp/backups/one/taken-at', 'utf8').trim();
    await compose('run', '--rm', '--no-deps', 'api', ADMIN, 'restore', 'finish', '--taken-at', takenAt);
  });
  const known = customer.received.size;
  await stage('services go on from the backup, with the addresses of managed.yaml', async () => {
    set('KAFKA_BROKERS', 'kafka:9092');
    set('DATABASE_URL', 'postgres://forum:trial@postgres:5432/forum');
    set('CLICKHOUSE_URL', 'http://forum:trial@clickhouse:8123/forum');
    await composeWith(['-f', '/project/deploy/compose/managed.yaml'], 'up', '--detach', '--no-deps', ...SERVICES);
    await untilHealthy(SERVICES);
    await compose('exec', '-T', 'api', 'node', ADMIN, 'archive', 'rebuild');
    await setRate(20);
    await until('a new webhook', () => customer.received.size > known);
    const number = Number([...customer.received.keys()].at(-1)!.slice(-12));
    if (number < 10_000_000) throw new Error(`the number ${number} was given again`);
    return `new matches are numbered from ${number}`;
  });
}

/** Of each table: its name, the number of its rows, and a checksum of them in any order. */
async function checksums(): Promise<string> {
  const psql = (sql: string) =>
    podman('exec', container('postgres'), 'psql', '--username=forum', '--tuples-only', '--no-align', '-c', sql);
  const tables = await psql(
    "SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname",
  );
  const each = tables
    .split('\n')
    .map(
      (table) =>
        `SELECT '${table}', count(*), md5(string_agg(md5(t::text), '' ORDER BY md5(t::text))) FROM ${table} AS t`,
    );
  return psql(`${each.join(' UNION ALL ')} ORDER BY 1`);
}

/** From now on the simulator emits so many items a second. */
async function setRate(rate: number): Promise<void> {
  const address = await inspect('simulator', '(index .NetworkSettings.Networks "forum-monitor_default").IPAddress');
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ rate });
  await fetch(`http://${address}:8090/simulator/rate`, { method: 'POST', headers, body });
}

/** Stops the forum, and waits until everything that it emitted has arrived. */
async function settled(customer: Customer): Promise<string> {
  await setRate(0.001);
  let compared = await customer.compare();
  for (let tries = 0; tries < 40 && compared.faults.length > 0; tries += 1) {
    await wait(3_000);
    compared = await customer.compare();
  }
  const { expected, matches, received, repeated, unsigned, faults } = compared;
  if (faults.length > 0 || unsigned > 0 || expected === 0)
    throw new Error(`${faults.join(', ')}; ${unsigned} unsigned; ${expected} expected`);
  return `${expected} expected, ${matches} recorded, ${received} received, ${repeated} of them repeatedly`;
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`${what} did not come`);
    await wait(200);
  }
}
