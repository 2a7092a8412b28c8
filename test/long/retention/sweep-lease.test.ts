import { afterEach, beforeEach, expect, test } from 'vitest';
import { startBiller } from '../../../services/biller/start-biller.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { takeLease } from '../../../shared/stores/upkeep/leases.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { insertMonitors } from '../../support/fixtures/recorder-fixtures.ts';
import { unusedMailer } from '../../support/fakes/unused-mailer.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

async function countRows(from: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`SELECT count(*) AS n FROM ${from}`);
  return rows[0]!.n;
}

async function insertMatches(monitorId: string, rows: number): Promise<void> {
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, entered_at, first_seen_at, created_at, matched_terms, suppressed,
       first_delivery, delivery_status)
     SELECT $1, n, 't1_x' || n, 'comment', service_now(), service_now(), service_now(), '{rust}', false, 'none', 'none'
       FROM generate_series(1, $2::int) AS n`,
    [monitorId, rows],
  );
  await db.pool.query('UPDATE monitor_counters SET last_seq = $2 WHERE monitor_id = $1', [monitorId, rows]);
}

test('the biller sweeps only with the lease, survives a Postgres outage, and releases the lease', async () => {
  const [id] = (await insertMonitors(db.pool, 1)) as [string];
  await insertMatches(id, 10);
  await db.setShift('31 days');
  const proxy = await TcpProxy.start(db.url);
  const pool = createPool({ url: proxy.url, name: 'biller', logger: silentLogger(), max: 2 });
  const unexpected: Error[] = [];
  const deps = {
    pool,
    kafka: createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger: silentLogger() }),
    prefix: '',
    clickhouse: createClickhouse('http://127.0.0.1:9', 'test'),
    mailer: unusedMailer(),
    dashboardUrl: 'http://127.0.0.1:9',
    metrics: createMetrics(),
    logger: silentLogger(),
    fatal: (error: Error) => void unexpected.push(error),
  };

  await takeLease(db.pool, { name: 'retention', holder: 'another', seconds: 60 });
  const second = startBiller(deps);
  await eventually('it has asked', () => pool.totalCount > 0 && pool.idleCount === pool.totalCount);
  await second.stop();
  expect(await countRows('matches')).toBe(10);
  expect(await countRows(`leases WHERE holder = 'another'`)).toBe(1);

  await db.pool.query('DELETE FROM leases');
  const biller = startBiller(deps);
  await eventually('the matches are swept', async () => (await countRows('matches')) === 0);
  await eventually('the ledger is checked', async () => {
    return (await countRows(`leases WHERE name = 'ledger-check' AND lease_until::time < '00:00:01'`)) === 1;
  });
  await biller.stop();
  // The lease of the daily ledger check stays.
  expect((await db.pool.query('SELECT name FROM leases')).rows).toEqual([{ name: 'ledger-check' }]);

  proxy.goAway();
  await startBiller(deps).stop();
  expect(unexpected).toEqual([]);
  await pool.end();
  await proxy.stop();
});
