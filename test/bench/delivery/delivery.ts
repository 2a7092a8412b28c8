/**
 * `npm run --silent bench -- delivery [--matches N] [--seconds N] [--at-once N]
 * [--phase alone|waiting|hanging|silent]`: the deliverer in a separate process, with real Kafka and Postgres, and 200
 * endpoints on 20 servers in another.
 *
 * - The webhooks delivered per second when all matches are there at once (through Kafka's wake-ups and the poller), and
 *   the processor time of each process for a webhook, in microseconds.
 * - The time from a match's recording to its webhook at an even rate.
 *
 * Each is measured alone, and while other matches are pending: 100,000 matches that wait for their next attempt, 100
 * endpoints that hang with 1,000 due matches each, or 10,000 silent endpoints, each a separate origin with 4 due
 * matches. Also reports the deliverer's memory and its concurrent attempts. Baselines in the same run: bare requests
 * through the same egress client to the same servers, and claims and outcomes alone.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { MONITOR_DELIVERIES, MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { MAX_CONCURRENT_ATTEMPTS } from '../../../services/deliverer/delivery-dispatcher.ts';
import { createSecretBox } from '../../../shared/rules/secret-box.ts';
import { startEngines } from '../../../services/launcher/engines/embedded-engines.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import type { Publisher } from '../../../shared/kafka/publisher.ts';
import { ensureTopics } from '../../../shared/kafka/topic-admin.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { bareRequests, claimsAndOutcomes } from './baselines.ts';
import type { DelivererJob, DelivererState } from './delivery-child.ts';
import { insertMatches, insertMonitors, publishWakeUps } from './matches.ts';
import type { ReceivedSince, ReceiverPorts } from './receivers.ts';
import { percentiles } from '../shared/percentiles.ts';
import { Resources } from '../shared/resources.ts';

const SERVERS = 20;
const ENDPOINTS = 200;
const RATE = 200;
const WAITING_MONITORS = 1_000;
const HANGING_ENDPOINTS = 100;
const SILENT_ORIGINS = 10_000;
const SECRET_KEY = 'a secret key of the benchmark, long enough';

/** State shared by the phases. */
interface ServiceDeps {
  pool: Pool;
  publisher: Publisher;
  receivers: ChildProcess;
  monitorIds: string[];
  deliverer?: ChildProcess;
}

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      matches: { type: 'string', default: '30000' },
      seconds: { type: 'string', default: '15' },
      'at-once': { type: 'string', default: String(MAX_CONCURRENT_ATTEMPTS) },
      phase: { type: 'string' },
    },
  });
  const perMonitor = Math.ceil(Number(values.matches) / ENDPOINTS);
  const dataDir = mkdtempSync(join(tmpdir(), 'forum-bench-delivery-'));
  const engines = await startEngines({ dataDir, env: process.env, engines: ['postgres', 'kafka'] });
  const receivers = fork(join(import.meta.dirname, 'receivers.ts'), [String(SERVERS)]);
  let deliverer: ChildProcess | undefined;
  try {
    const [ports] = (await once(receivers, 'message')) as [ReceiverPorts];
    // Without a listener, messages would be buffered for the first listener. Discard what no phase asks for.
    receivers.on('message', () => undefined);
    const job: Omit<DelivererJob, 'postgresUrl'> = {
      broker: engines.urls.kafka.replace('kafka://', ''),
      prefix: 'bench.',
      secretKey: SECRET_KEY,
      atOnce: Number(values['at-once']),
    };
    const db = await createTestDatabase(engines.urls.postgres);
    const urls = Array.from({ length: ENDPOINTS }, (_, i) => urlOf(ports.answering[i % SERVERS]!, i));
    report({ case: 'bare requests', per_second: await bareRequests(urls, 5_000), at_once: 64 });
    await wait(500);
    const kafka = createKafka({ brokers: [job.broker], clientId: 'bench', logger: silentLogger() });
    await ensureTopics(kafka, { prefix: job.prefix, embedded: true, topics: [MONITOR_MATCHES, MONITOR_DELIVERIES] });
    const publisher = await createPublisher({ ...job, kafka, metrics: createMetrics(), logger: silentLogger() });
    const secretBox = createSecretBox(SECRET_KEY);
    const deps = { pool: db.pool, publisher, receivers, monitorIds: await insertMonitors(db.pool, urls, secretBox) };
    report({ case: 'claims and outcomes alone', ...(await claimsAndOutcomes(db.pool, secretBox)) });
    const child = await startChild({ ...job, postgresUrl: db.url });
    deliverer = child;

    const seqs = numbering();
    const measure = async (beside: string) => {
      await deliverAll(deps, seqs(10));
      report({ case: 'all at once', beside, ...(await deliverAll({ ...deps, deliverer: child }, seqs(perMonitor))) });
      report({ case: 'at an even rate', beside, ...(await deliverEvenly(deps, seqs, Number(values.seconds))) });
      report({ case: 'deliverer', beside, at_once: job.atOnce, ...(await stateOf(child)) });
    };
    const isAsked = (phase: string) => values.phase === undefined || values.phase === phase;
    if (isAsked('alone')) await measure('nothing');
    if (isAsked('waiting') || isAsked('hanging')) {
      const waiting = Array.from({ length: WAITING_MONITORS }, (_, i) => urlOf(ports.hanging, i));
      const waitingIds = await insertMonitors(db.pool, waiting, secretBox);
      await insertMatches(db.pool, waitingIds, { firstSeq: 1, count: 100, dueIn: '2 hours', attempts: 5 });
      await db.pool.query('ANALYZE');
      if (isAsked('waiting')) await measure('100,000 matches that wait for their next attempt');
      if (isAsked('hanging')) {
        await db.pool.query(`UPDATE matches SET next_attempt_at = service_now() WHERE monitor_id = ANY ($1)`, [
          waitingIds.slice(0, HANGING_ENDPOINTS),
        ]);
        await wait(3_000);
        await measure('100,000 that wait, of which 10,000 are due at 100 endpoints that hang');
      }
    }
    if (isAsked('silent')) {
      const silent = Array.from({ length: SILENT_ORIGINS }, (_, i) => silentUrl(ports.hanging, i));
      const silentIds = await insertMonitors(db.pool, silent, secretBox);
      await deliverAll(deps, seqs(1));
      await insertMatches(db.pool, silentIds, { firstSeq: 1, count: 4, dueIn: '0 seconds', attempts: 0 });
      await db.pool.query('ANALYZE');
      await wait(3_000);
      await measure('40,000 due matches of 10,000 silent endpoints');
    }
    await publisher.stop();
    await db.pool.end();
  } finally {
    deliverer?.kill('SIGKILL');
    receivers.kill('SIGKILL');
    await engines.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function urlOf(port: number, number: number): string {
  return `http://127.0.0.1:${port}/hooks/${number}`;
}

function silentUrl(port: number, number: number): string {
  return `http://127.4.${number >> 8}.${number & 255}:${port}/`;
}

async function stateOf(child: ChildProcess): Promise<DelivererState> {
  const answer = once(child, 'message') as Promise<[DelivererState]>;
  child.send('state');
  return (await answer)[0];
}

async function startChild(job: DelivererJob): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'delivery-child.ts'), [JSON.stringify(job)]);
  await once(child, 'message');
  return child;
}

/** Allocates each monitor's next seqs. */
function numbering(): (count: number) => { firstSeq: number; count: number } {
  let next = 1;
  return (count) => {
    const firstSeq = next;
    next += count;
    return { firstSeq, count };
  };
}

const FRESH = { dueIn: '3 seconds', attempts: 0 };

/**
 * Records and announces everything at once. Measures the time from the first announcement to the last delivery, and the
 * processor time until all attempts are published.
 */
async function deliverAll(deps: ServiceDeps, range: { firstSeq: number; count: number }): Promise<object> {
  const { pool, publisher, receivers, monitorIds } = deps;
  await insertMatches(pool, monitorIds, { ...range, ...FRESH });
  const expected = range.count * monitorIds.length;
  const use = watchProcesses(deps);
  const started = performance.now();
  const all = collect(receivers, expected);
  await publishWakeUps(publisher, monitorIds, range);
  await all;
  const seconds = (performance.now() - started) / 1000;
  await untilPublished(pool, monitorIds);
  const per_second = Math.round(expected / seconds);
  return { matches: expected, goal_per_second: 1_000, per_second, processor_us: use(expected) };
}

/** Returns a function that says how much processor time each process took since, in microseconds a webhook. */
function watchProcesses({ deliverer, receivers }: ServiceDeps): (webhooks: number) => object {
  const resources = new Resources();
  const kinds = new Map([
    [process.pid, 'benchmark'],
    [receivers.pid!, 'receivers'],
    [deliverer?.pid ?? 0, 'deliverer'],
  ]);
  const take = () => {
    resources.take([process.pid], kinds);
  };
  take();
  return (webhooks) => {
    take();
    return Object.fromEntries(
      Object.entries(resources.seconds()).map(([kind, seconds]) => [kind, Math.round((seconds * 1e6) / webhooks)]),
    );
  };
}

async function untilPublished(pool: Pool, monitorIds: readonly string[]): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      'SELECT FROM delivery_attempts WHERE published_at IS NULL AND monitor_id = ANY ($1) LIMIT 1',
      [monitorIds],
    );
    if (rows.length === 0) return;
    await wait(20);
  }
}

/** Records one match after another, each of a different monitor, in steps of a tenth of a second. */
async function deliverEvenly(
  { pool, publisher, receivers, monitorIds }: ServiceDeps,
  seqs: (count: number) => { firstSeq: number; count: number },
  seconds: number,
): Promise<object> {
  const tick = RATE / 10;
  const all = collect(receivers, tick * 10 * seconds);
  let range = { firstSeq: 0, count: 0 };
  for (let number = 0; number < seconds * 10; number++) {
    const next = wait(100);
    const from = (number * tick) % monitorIds.length;
    if (from === 0) range = seqs(1);
    const some = monitorIds.slice(from, from + tick);
    await insertMatches(pool, some, { ...range, ...FRESH });
    await publishWakeUps(publisher, some, range);
    await next;
  }
  const { p50, p99, max } = percentiles(await all);
  return { per_second: RATE, latency_ms: { p50, p99, max } };
}

/** The latencies of the next `count` webhooks. */
function collect(receivers: ChildProcess, count: number): Promise<number[]> {
  const collected: number[] = [];
  return new Promise((resolve) => {
    const add = ({ latencies }: ReceivedSince) => {
      collected.push(...latencies);
      if (collected.length < count) return;
      receivers.off('message', add);
      resolve(collected);
    };
    receivers.on('message', add);
  });
}
