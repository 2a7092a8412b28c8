/**
 * `npm run --silent bench -- digests [--accounts N] [--matches N] [--smtp-ms N]`: a full hour at which the digests of N
 * accounts (5,000) are due, each of one monitor with 20 matches: every second one goes to a webhook, the others are
 * mailed. Measured one after the other, with one process for each: making the digests; sending the events to 20
 * receivers on loopback; mailing, to an SMTP server on loopback that takes N ms (50) for each mail. Every event and
 * every mail must come once. Baseline of the making: the bare writes of the same rows, in one transaction an account.
 * Runs on embedded Postgres, or on TEST_POSTGRES_URL.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { digestEvent } from '../../../schemas/messages/monitor-event.ts';
import { createDigestRound } from '../../../services/biller/digests/digest-round.ts';
import { mailDigests } from '../../../services/biller/digests/mail-digests.ts';
import { Lease } from '../../../services/biller/lease.ts';
import { EndpointHolds } from '../../../services/deliverer/endpoint-holds.ts';
import { startEventDeliveries } from '../../../services/deliverer/events/start-event-deliveries.ts';
import { createSecretBox } from '../../../shared/domain/secret-box.ts';
import { createSystemLookup } from '../../../shared/http/address-lookup.ts';
import { createEgressClient } from '../../../shared/http/egress-client.ts';
import { createMailer } from '../../../shared/mail/create-mailer.ts';
import { OutageLog } from '../../../shared/outages/outage-log.ts';
import { createPool, inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { startSmtpReceiver } from '../../support/fakes/smtp-receiver.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { Report } from '../main.ts';
import { openPostgres } from '../shared/postgres-engine.ts';
import { insertDueMonitors } from './due-monitors.ts';

const RECEIVERS = 20;
const DASHBOARD_URL = 'https://dash.example.com';
const secretBox = createSecretBox('a secret key of the benchmark, long enough');

export default async function bench(report: Report, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      accounts: { type: 'string', default: '5000' },
      matches: { type: 'string', default: '20' },
      'smtp-ms': { type: 'string', default: '50' },
    },
  });
  const engine = await openPostgres();
  const receivers = await startReceivers();
  try {
    const database = await createTestDatabase(engine.url);
    const pool = createPool({ url: database.url, name: 'bench', logger: silentLogger(), max: 10 });
    try {
      const accounts = Number(values.accounts);
      const matches = Number(values.matches);
      await insertDueMonitors(pool, secretBox, { accounts, matches, webhookUrls: receivers.urls });
      report({ what: 'bare writes', ...(await bareWrites(pool, accounts)) });
      report({ what: 'making', accounts, ...(await makeAll(pool)) });
      report({ what: 'events', ...(await sendAll(pool, receivers)) });
      report({ what: 'mails', ...(await mailAll(pool, Number(values['smtp-ms']))) });
    } finally {
      await pool.end();
      await database.drop();
    }
  } finally {
    receivers.stop();
    await engine.stop();
  }
}

interface Receivers {
  urls: string[];
  /** How often each event came, by its id. */
  events: Map<string, number>;
  /** Of all digests. */
  matches: () => number;
  stop: () => void;
}

async function startReceivers(): Promise<Receivers> {
  const events = new Map<string, number>();
  let matches = 0;
  const servers = Array.from({ length: RECEIVERS }, () =>
    createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const id = String(request.headers['webhook-id']);
        events.set(id, (events.get(id) ?? 0) + 1);
        matches += digestEvent.parse(JSON.parse(Buffer.concat(chunks).toString())).digest.matches.length;
        response.writeHead(204).end();
      });
    }),
  );
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    urls: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    events,
    matches: () => matches,
    stop() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

const seconds = (begun: number): number => Math.round((performance.now() - begun) / 100) / 10;

/** An insert and an update an account, in a transaction each, rolled back by deleting them. */
async function bareWrites(pool: Pool, accounts: number): Promise<object> {
  await pool.query('CREATE UNLOGGED TABLE bench_ranges (id int PRIMARY KEY, due_at timestamptz)');
  await pool.query('CREATE TABLE bench_events (id int PRIMARY KEY, payload jsonb)');
  await pool.query('INSERT INTO bench_ranges SELECT n, service_now() FROM generate_series(1, $1::int) AS n', [
    accounts,
  ]);
  const begun = performance.now();
  for (let account = 1; account <= accounts; account++) {
    await inTransaction(pool, async (client) => {
      await client.query('INSERT INTO bench_events VALUES ($1, $2)', [account, { after: 0, until: 20, count: 20 }]);
      await client.query('UPDATE bench_ranges SET due_at = service_now() WHERE id = $1', [account]);
    });
  }
  const took = seconds(begun);
  await pool.query('DROP TABLE bench_ranges, bench_events');
  return { seconds: took };
}

async function makeAll(pool: Pool): Promise<object> {
  const metrics = createMetrics();
  const { signal } = new AbortController();
  const begun = performance.now();
  const deps = { pool, dashboardUrl: DASHBOARD_URL, metrics, logger: silentLogger(), signal };
  await createDigestRound(deps, new Lease(pool, 'digests'))();
  const took = seconds(begun);
  const { rows } = await pool.query<{ events: number; mails: number; due: number }>(
    `SELECT (SELECT count(*)::int FROM monitor_events) AS events, (SELECT count(*)::int FROM digest_mails) AS mails,
       (SELECT count(*)::int FROM monitor_digests WHERE due_at <= service_now()) AS due`,
  );
  if (rows[0]!.due > 0) throw new Error(`${rows[0]!.due} digests were not made`);
  return { seconds: took, ...rows[0] };
}

async function sendAll(pool: Pool, { events, matches }: Receivers): Promise<object> {
  const metrics = createMetrics();
  const logger = silentLogger();
  const egress = createEgressClient({
    allowPrivate: true,
    egressProxy: undefined,
    lookup: createSystemLookup(),
    clock: systemClock,
  });
  const begun = performance.now();
  const running = startEventDeliveries({
    ...{ pool, egress, secretBox, metrics, logger, clock: systemClock },
    monotonic: () => performance.now(),
    holds: new EndpointHolds(() => performance.now()),
    random: Math.random,
    deadlineMs: 8_000,
    leaseMs: 20_000,
    outage: new OutageLog({ work: 'delivering events', logger, metrics }),
    onError(error) {
      throw error;
    },
  });
  const pending = async () => {
    const { rows } = await pool.query<{ n: number }>(
      "SELECT count(*)::int AS n FROM monitor_events WHERE delivery_status = 'pending'",
    );
    return rows[0]!.n;
  };
  while ((await pending()) > 0) await wait(200);
  const took = seconds(begun);
  await running.stop();
  await egress.close();
  const repeated = [...events.values()].filter((times) => times !== 1).length;
  if (repeated > 0) throw new Error(`${repeated} events came more than once`);
  return { seconds: took, events: events.size, matches: matches() };
}

async function mailAll(pool: Pool, smtpMs: number): Promise<object> {
  let received = 0;
  const smtp = await startSmtpReceiver({
    onData(stream, _session, done) {
      stream.resume().on('end', () => {
        received += 1;
        setTimeout(done, smtpMs);
      });
    },
  });
  const mailer = createMailer({ smtpUrl: smtp.url, from: 'Forum <no-reply@example.com>', outbox: '' });
  const deps = { pool, mailer, dashboardUrl: DASHBOARD_URL, metrics: createMetrics(), logger: silentLogger() };
  const { signal } = new AbortController();
  const begun = performance.now();
  while ((await mailDigests(deps, signal)) > 0);
  const took = seconds(begun);
  await smtp.stop();
  const { rows } = await pool.query<{ n: number }>(
    "SELECT count(*)::int AS n FROM digest_mails WHERE outcome = 'sent'",
  );
  if (rows[0]!.n !== received) throw new Error(`${received} mails came, ${rows[0]!.n} were sent`);
  return { seconds: took, mails: received, smtp_ms: smtpMs };
}
