import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { MONITOR_MATCHES } from '../../../schemas/messages/topics.ts';
import { newAccountId, newMonitorId } from '../../../shared/domain/identifiers.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-secret.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPublisher } from '../../../shared/kafka/publisher.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { DeliveryBench, secretBox } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { recordedMatch } from '../../support/samples/recorded-match.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';

const SERVERS = 50;
const PATHS = 20;
/** Servers on which all paths hang, so that the limit per origin is reached. */
const HANGING_SERVERS = 4;
/** Further servers with one path that hangs and 19 that answer. */
const MIXED_SERVERS = 20;
const HANGING_MATCHES = 50;
const HEALTHY_MATCHES = 5;
const URL_LIMIT = 4;
const ORIGIN_LIMIT = 64;
/** Long enough that no attempt times out during a test; the service's clock is frozen, so that no lease ends either. */
const NO_DEADLINE_MS = 600_000;

/** Servers that answer 204, or keep requests to some paths open until they are released. */
class Endpoints {
  /** Maximum number of concurrent requests, by path and by server. */
  readonly maxConcurrent = new Map<string, number>();
  held: ServerResponse[] = [];
  private readonly servers: Server[] = [];
  private readonly inFlight = new Map<string, number>();
  private isHolding = true;

  async start(): Promise<string[]> {
    for (let at = 0; at < SERVERS; at++) {
      const server = createServer((request, response) => {
        request.resume();
        request.on('end', () => {
          this.take(at, request.url ?? '', response);
        });
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
      this.servers.push(server);
    }
    return this.servers.flatMap((server, at) => {
      const { port } = server.address() as AddressInfo;
      return Array.from({ length: PATHS }, (_, path) => `http://127.0.0.1:${port}/${at}/${path}`);
    });
  }

  static hangs(url: string): boolean {
    const [server, path] = new URL(url).pathname.slice(1).split('/').map(Number) as [number, number];
    return server < HANGING_SERVERS || (server < HANGING_SERVERS + MIXED_SERVERS && path === 0);
  }

  /** Answers all open requests, and every later request at once. */
  letGo(): void {
    this.isHolding = false;
    for (const response of this.held.splice(0)) response.writeHead(204).end();
  }

  async stop(): Promise<void> {
    this.letGo();
    for (const server of this.servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  private take(server: number, path: string, response: ServerResponse): void {
    const names = [path, `server ${server}`];
    for (const name of names) {
      const count = (this.inFlight.get(name) ?? 0) + 1;
      this.inFlight.set(name, count);
      this.maxConcurrent.set(name, Math.max(count, this.maxConcurrent.get(name) ?? 0));
    }
    const leave = () => {
      for (const name of names) this.inFlight.set(name, this.inFlight.get(name)! - 1);
    };
    if (this.isHolding && Endpoints.hangs(`http://any${path}`)) {
      // The answer is written in the same step in which the request is released.
      response.once('prefinish', leave);
      this.held.push(response);
      return;
    }
    leave();
    response.writeHead(204).end();
  }
}

let bench: DeliveryBench;
let endpoints: Endpoints;
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
beforeEach(async () => {
  endpoints = new Endpoints();
  await bench.db.freeze();
});
afterEach(async () => {
  await endpoints.stop();
  await bench.reset();
});
afterAll(() => bench.db.drop());

interface Watching {
  id: string;
  url: string;
  matches: number;
}

/** Inserts one monitor with pending matches per URL, all of one account. @param dueIn when the poller may claim them */
async function watch(urls: readonly string[], matchesOf: (url: string) => number, dueIn: string): Promise<Watching[]> {
  const account = newAccountId();
  const watching = urls.map((url) => ({ id: newMonitorId(), url, matches: matchesOf(url) }));
  const { pool } = bench.db;
  await pool.query('INSERT INTO accounts (id, email, mailbox) VALUES ($1, $1, $1)', [account]);
  await pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_url, webhook_kind, webhook_secret, active_since,
       next_charge_at)
     SELECT id, $1, 'metals', '{rust}', url, 'generic', secret, wall_now(), service_now() + interval '1 day'
     FROM unnest($2::text[], $3::text[], $4::bytea[]) AS w (id, url, secret)`,
    [account, watching.map(({ id }) => id), urls, watching.map(({ id }) => secretBox.seal(newWebhookSecret(), id))],
  );
  await pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
       suppressed, first_delivery, delivery_status, next_attempt_at)
     SELECT id, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', 'pending',
       service_now() + $3::interval
     FROM unnest($1::text[], $2::int[]) AS w (id, matches) CROSS JOIN generate_series(1, w.matches) AS seq`,
    [watching.map(({ id }) => id), watching.map(({ matches }) => matches), dueIn],
  );
  return watching;
}

/** Publishes matches as the recorder does: all of one monitor, then of the next. */
async function publishHints(watching: readonly Watching[]): Promise<void> {
  const logger = silentLogger();
  const brokers = inject('kafkaBrokers').replace('kafka://', '').split(',');
  const kafka = createKafka({ brokers, clientId: 'test', logger });
  const publisher = await createPublisher({ kafka, prefix: bench.prefix, metrics: createMetrics(), logger });
  const records = watching.flatMap(({ id, matches }) =>
    Array.from({ length: matches }, (_, at) => ({ key: id, value: JSON.stringify(recordedMatch(id, at + 1)) })),
  );
  await publisher.publish(MONITOR_MATCHES.name, records);
  await publisher.stop();
}

async function countMatches(watching: readonly Watching[], condition: string): Promise<number> {
  const { rows } = await bench.db.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM matches WHERE monitor_id = ANY ($1::text[]) AND ${condition}`,
    [watching.map(({ id }) => id)],
  );
  return rows[0]!.n;
}

const sumOf = (watching: readonly Watching[]) => watching.reduce((sum, { matches }) => sum + matches, 0);

test.each([
  ['with hints', '1 hour'],
  ['when all hints are lost', '0 s'],
])(
  '900 endpoints get all their matches while 100 others hang with 50 matches each, %s',
  async (_, dueIn) => {
    const urls = await endpoints.start();
    const matchesOf = (url: string) => (Endpoints.hangs(url) ? HANGING_MATCHES : HEALTHY_MATCHES);
    const all = await watch(urls, matchesOf, dueIn);
    const [hanging, healthy] = [
      all.filter(({ url }) => Endpoints.hangs(url)),
      all.filter(({ url }) => !Endpoints.hangs(url)),
    ];
    expect([hanging.length, healthy.length]).toEqual([100, 900]);
    await bench.startDeliverer({ deadlineMs: NO_DEADLINE_MS });
    if (dueIn !== '0 s') await publishHints([...hanging, ...healthy]);
    await eventually(
      'all matches of the healthy endpoints are delivered',
      async () => (await countMatches(healthy, `delivery_status = 'delivered'`)) === sumOf(healthy),
      60_000,
    );
    const full = HANGING_SERVERS * ORIGIN_LIMIT + MIXED_SERVERS * URL_LIMIT;
    await eventually('the hanging endpoints use all their slots', () => endpoints.held.length === full);
    // None of their attempts has ended.
    expect(await countMatches(hanging, 'attempt > 0')).toBe(0);

    endpoints.letGo();
    await eventually(
      'the matches of the hanging endpoints are delivered too',
      async () => (await countMatches(hanging, `delivery_status = 'delivered'`)) === sumOf(hanging),
      60_000,
    );
    expect(await countMatches(all, 'attempt > 1')).toBe(0);
    const maxConcurrent = [...endpoints.maxConcurrent];
    const inServers = maxConcurrent.filter(([name]) => name.startsWith('server')).map(([, count]) => count);
    const inPaths = maxConcurrent.filter(([name]) => !name.startsWith('server')).map(([, count]) => count);
    expect([Math.max(...inPaths), Math.max(...inServers)]).toEqual([URL_LIMIT, ORIGIN_LIMIT]);
  },
  150_000,
);

test('a healthy endpoint gets its matches while 1,000 dead ones have 100,000 due matches', async () => {
  const port = await freePort();
  // Each has its own origin, on which nothing listens.
  const dead = Array.from({ length: 1_000 }, (_, at) => `http://127.1.${at >> 8}.${at & 255}:${port}/`);
  const backlog = await watch(dead, () => 100, '0 s');
  const urls = await endpoints.start();
  await bench.startDeliverer();
  const attempted = () => countMatches(backlog, 'attempt > 0');
  await eventually('the dead endpoints are being attempted', async () => (await attempted()) > 100);
  const healthy = await watch(urls.slice(-1), () => 8, '0 s');
  await eventually(
    'the healthy endpoint has its matches',
    async () => (await countMatches(healthy, `delivery_status = 'delivered'`)) === 8,
    60_000,
  );
  // Most matches of the dead endpoints are not attempted yet.
  expect(await attempted()).toBeLessThan(sumOf(backlog) / 2);
}, 120_000);
