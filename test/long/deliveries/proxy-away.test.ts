import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newAccountId, newMonitorId } from '../../../shared/domain/identifiers.ts';
import { newWebhookSecret } from '../../../shared/domain/webhooks/webhook-secret.ts';
import { DeliveryBench, secretBox } from '../../support/fixtures/deliveries/delivery-fixtures.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { freePort } from '../../support/fixtures/free-port.ts';

let bench: DeliveryBench;
const cleanups: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  bench = await DeliveryBench.create();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  await bench.reset();
});
afterAll(() => bench.db.drop());

/** A server on all loopback addresses (127.0.0.0/8), which serves as any number of origins. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', 4_096, resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const originsAt = (port: number, net: number, count: number) =>
  Array.from({ length: count }, (_, at) => `http://127.${net}.${at >> 8}.${at & 255}:${port}/`);

/** Inserts one monitor with due matches per URL, all of one account; returns their ids. */
async function watch(urls: readonly string[], matches: number): Promise<string[]> {
  const { pool } = bench.db;
  const [account, ids, secret] = [newAccountId(), urls.map(newMonitorId), newWebhookSecret()];
  await pool.query('INSERT INTO accounts (id, email, mailbox) VALUES ($1, $1, $1)', [account]);
  await pool.query(
    `INSERT INTO monitors (id, account_id, name, keywords, webhook_url, webhook_kind, webhook_secret, active_since,
       next_charge_at)
     SELECT id, $1, 'metals', '{rust}', url, 'generic', secret, wall_now(), service_now() + interval '1 day'
     FROM unnest($2::text[], $3::text[], $4::bytea[]) AS w (id, url, secret)`,
    [account, ids, urls, ids.map((id) => secretBox.seal(secret, id))],
  );
  await pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms,
       suppressed, first_delivery, delivery_status, next_attempt_at)
     SELECT id, seq, 't3_' || seq, 'post', wall_now(), wall_now(), service_now(), '{rust}', false, 'pending', 'pending',
       service_now()
     FROM unnest($1::text[]) AS id CROSS JOIN generate_series(1, $2::int) AS seq`,
    [ids, matches],
  );
  return ids;
}

async function countOf(ids: readonly string[], condition: string): Promise<number> {
  const { rows } = await bench.db.pool.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM matches WHERE monitor_id = ANY ($1::text[]) AND ${condition}`,
    [ids],
  );
  return rows[0]!.n;
}

test('matches use up no attempts while the egress proxy is away, and all are delivered when it is back', async () => {
  const received: string[] = [];
  const port = await listen(
    createServer((request, response) => {
      request.resume();
      received.push(request.url ?? '');
      request.on('end', () => response.writeHead(204).end());
    }),
  );
  const proxyPort = await freePort();
  const ids = await watch(originsAt(port, 3, 30), 3);
  await bench.startDeliverer({ egressProxy: `http://127.0.0.1:${proxyPort}` });
  const faults = async () => {
    const { values } = await bench.metrics.deliveryLocalFaults.get();
    return values.reduce((sum, { value }) => sum + value, 0);
  };
  const isPaused = async () => (await bench.metrics.deliveriesPaused.get()).values[0]?.value === 1;
  await eventually('all sending is paused', isPaused);
  const atPause = await faults();
  await eventually('some probes have failed', async () => (await faults()) >= atPause + 2, 30_000);
  expect(await countOf(ids, `attempt = 0 AND ladder_step = 0 AND delivery_status = 'pending'`)).toBe(90);
  const { rows } = await bench.db.pool.query(
    `SELECT monitor_id FROM delivery_attempts WHERE monitor_id = ANY ($1)
     UNION ALL SELECT monitor_id FROM monitor_health WHERE monitor_id = ANY ($1)`,
    [ids],
  );
  expect(rows).toEqual([]);

  const proxy = createServer();
  proxy.on('connect', (request, socket) => {
    const [, host] = /^(127\.3\.\d+\.\d+):/.exec(request.url ?? '') ?? [];
    const upstream = connect(port, host);
    socket.on('error', () => upstream.destroy());
    upstream.on('error', () => socket.destroy());
    upstream.once('connect', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(proxyPort, '127.0.0.1', resolve));
  cleanups.push(async () => {
    proxy.closeAllConnections();
    await new Promise((resolve) => proxy.close(resolve));
  });
  await eventually(
    'all is delivered',
    async () => (await countOf(ids, `delivery_status = 'delivered' AND attempt = 1`)) === 90,
    120_000,
  );
  expect(received).toHaveLength(90);
  expect(await isPaused()).toBe(false);
}, 120_000);
