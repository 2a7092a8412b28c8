import { afterEach, beforeEach, expect, test } from 'vitest';
import { InstallationReport } from '../../../services/biller/installation-report.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { charge, credit } from '../../../shared/billing/ledger.ts';
import { noteLostRecords } from '../../../shared/crawl/lost-records.ts';
import { storeLedgerMismatches } from '../../../shared/maintenance/settings.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let metrics: Metrics;
let report: InstallationReport;
beforeEach(async () => {
  db = await createTestDatabase();
  metrics = createMetrics();
  report = new InstallationReport(metrics);
});
afterEach(() => db.drop());

/** Lines of /metrics that begin with the name, without it. */
const exported = async (name: string) =>
  (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith(name) && /^[{ ]/.test(line.slice(name.length)))
    .map((line) => line.slice(name.length).trim())
    .sort();

test('deliveries, monitors and credits are exported, each ledger row once', async () => {
  const [account] = await insertPayingAccounts(db.pool, { accounts: 1, monitors: 4, credits: 100 });
  const { accountId, monitorIds } = account!;
  const [first, second, third] = monitorIds;
  await db.freeze();
  await db.pool.query(`UPDATE monitors SET status = 'paused_balance' WHERE id = $1`, [third]);
  await db.pool.query(`INSERT INTO monitor_health (monitor_id, failures, webhook_failing) VALUES ($1, 50, true)`, [
    first,
  ]);
  await db.pool.query(
    `INSERT INTO matches (monitor_id, seq, thing_id, kind, created_at, first_seen_at, entered_at, matched_terms, suppressed, first_delivery,
       delivery_status, next_attempt_at)
     SELECT $1, n, 't1_' || n, 'comment', service_now(), service_now(), service_now() - n * interval '1 minute', '{rust}', false, 'pending',
       CASE n WHEN 3 THEN 'delivered' ELSE 'pending' END, CASE n WHEN 3 THEN NULL ELSE service_now() - interval '30 seconds' END
     FROM generate_series(1, 3) AS n`,
    [second],
  );
  await report.update(db.pool);
  expect(await exported('deliveries_pending')).toEqual(['2']);
  expect(await exported('deliveries_oldest_pending_seconds')).toEqual(['120']);
  expect(await exported('deliveries_overdue_seconds')).toEqual(['30']);
  await db.pool.query('UPDATE service_clock SET frozen_at = NULL');
  expect(await exported('monitors')).toEqual([
    '{status="active"} 3',
    '{status="paused"} 0',
    '{status="paused_balance"} 1',
  ]);
  expect(await exported('monitors_webhook_failing')).toEqual(['1']);
  // What was there before this process reported is not counted again.
  expect(await exported('credits_granted_total')).toEqual([]);

  await charge(db.pool, { accountId, kind: 'read', credits: 3, reference: 'a' });
  await charge(db.pool, { accountId, kind: 'read', credits: 4, reference: 'b' });
  await credit(db.pool, { accountId, kind: 'grant', credits: 50, reference: 'c' });
  await report.update(db.pool);
  // They may belong to transactions that commit in another order.
  expect(await exported('credits_charged_total')).toEqual([]);
  await db.setShift('61 seconds');
  await charge(db.pool, { accountId, kind: 'monitor_renewal', credits: 10, reference: 'd' });
  for (let pass = 0; pass < 3; pass++) await report.update(db.pool);
  expect(await exported('credits_charged_total')).toEqual(['{kind="read"} 7']);
  expect(await exported('credits_granted_total')).toEqual(['{kind="grant"} 50']);
  await db.setShift('130 seconds');
  await report.update(db.pool);
  expect(await exported('credits_charged_total')).toEqual(['{kind="monitor_renewal"} 10', '{kind="read"} 7']);

  await storeLedgerMismatches(db.pool, 2);
  await report.update(db.pool);
  expect(await exported('ledger_mismatches')).toEqual(['2']);
  await storeLedgerMismatches(db.pool, 0);
  await report.update(db.pool);
  expect(await exported('ledger_mismatches')).toEqual(['0']);

  // A server without synchronous standbys: there is no number of them.
  expect(await exported('postgres_synchronous_standbys')).toEqual([]);
  report.withdraw();
  expect([
    await exported('deliveries_pending'),
    await exported('deliveries_overdue_seconds'),
    await exported('monitors'),
    await exported('ledger_mismatches'),
  ]).toEqual([[], [], [], []]);
});

test('an open snapshot, as that of a dump, is exported with its age until it ends', async () => {
  const dump = await db.pool.connect();
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows } = await dump.query<{ begun: number }>('SELECT extract(epoch FROM now())::float8 AS begun');
  const age = async () => {
    const now = await db.pool.query<{ age: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 - $1 AS age',
      [rows[0]!.begun],
    );
    return now.rows[0]!.age;
  };
  const before = await age();
  await report.update(db.pool);
  expect(Number(await exported('postgres_oldest_snapshot_seconds'))).toBeGreaterThanOrEqual(before);
  await dump.query('COMMIT');
  dump.release();
  await report.update(db.pool);
  expect(Number(await exported('postgres_oldest_snapshot_seconds'))).toBeLessThan(await age());
});

test('what a group lost is exported by whichever process reports, from its first sample', async () => {
  const lost = { group: 'recorder', topic: 'monitor.candidates', partition: 0, from: 3n, to: 8n };
  await noteLostRecords(db.pool, lost);
  await report.update(db.pool);
  expect(await exported('kafka_lost_records')).toEqual(['{group="recorder",topic="monitor.candidates"} 5']);
  report.withdraw();
  expect(await exported('kafka_lost_records')).toEqual([]);
});
