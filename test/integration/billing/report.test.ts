import { afterEach, beforeEach, expect, test } from 'vitest';
import { InstallationReport } from '../../../services/biller/installation-report.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { insertDigestMail } from '../../../shared/stores/digests/digest-mails.ts';
import { insertMonitorEvent } from '../../../shared/stores/events/monitor-events.ts';
import { charge, credit } from '../../../shared/stores/ledger/ledger.ts';
import { storeLedgerMismatches } from '../../../shared/stores/upkeep/settings.ts';
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

  report.withdraw();
  expect([
    await exported('deliveries_pending'),
    await exported('deliveries_overdue_seconds'),
    await exported('monitors'),
    await exported('ledger_mismatches'),
  ]).toEqual([[], [], [], []]);
});

const WAITING = ['backfills', 'digest', 'monitor_events'];

/** The lines of /metrics about work that waits. */
async function exportedWaiting(): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n');
  return lines.filter((line) => WAITING.some((name) => line.startsWith(name)) && !line.includes('_total')).sort();
}

async function addRun(
  monitorId: string,
  columns: { ago: string; lease?: string; cancelled?: boolean; state?: string },
) {
  await db.pool.query(
    `INSERT INTO backfills (id, monitor_id, account_id, version, rule, from_at, to_at, deliver, created_at, lease_until,
       cancelled_at, state)
     VALUES ('bf_' || $1, $1, 'acc_x', 1, '{}', service_now(), service_now(), false, service_now() - $2::interval,
       service_now() + $3::interval, CASE WHEN $4 THEN service_now() END, $5)`,
    [monitorId, columns.ago, columns.lease ?? null, columns.cancelled ?? false, columns.state ?? 'running'],
  );
}

test('backfills by phase, digests that are due, their mails and events are exported with the age of the oldest', async () => {
  await db.freeze();
  const [active, other, frozen] = await insertPayingAccounts(db.pool, { accounts: 3, monitors: 5, credits: 100 });
  const [first, second, third, fourth, fifth] = active!.monitorIds;
  await addRun(first!, { ago: '90 seconds' });
  await addRun(second!, { ago: '80 seconds', lease: '-1 second' });
  await addRun(third!, { ago: '70 seconds', lease: '20 seconds' });
  await addRun(fourth!, { ago: '60 seconds', lease: '20 seconds', cancelled: true });
  await addRun(fifth!, { ago: '1 day', state: 'done' });

  await db.pool.query(`UPDATE accounts SET status = 'frozen' WHERE id = $1`, [frozen!.accountId]);
  await db.pool.query('UPDATE monitors SET webhook_url = $2, webhook_kind = $3 WHERE id = $1', [
    second,
    'https://receiver.example',
    'generic',
  ]);
  await db.pool.query(
    `INSERT INTO monitor_digests (monitor_id, after_seq, period, due_at)
     SELECT id, 0, 'hourly', service_now() - ago FROM unnest($1::text[], $2::interval[]) AS given (id, ago)`,
    [
      // Due by mail and by webhook; not due yet; of an account that is frozen; of one whose last mail waits.
      [first, second, third, frozen!.monitorIds[0], other!.monitorIds[0]],
      ['30 seconds', '40 seconds', '-1 second', '1 hour', '1 hour'],
    ],
  );
  const section = { monitorId: other!.monitorIds[0]!, period: 'hourly', after: 0, until: 1, count: 1 } as const;
  await insertDigestMail(db.pool, other!.accountId, [section]);
  for (const key of ['a', 'b', 'c']) {
    await insertMonitorEvent(db.pool, { monitorId: first!, kind: 'monitor.spike', key, payload: {} });
  }
  await db.pool.query(
    `UPDATE monitor_events SET delivery_status = 'delivered', created_at = '2020-01-01' WHERE key = 'a'`,
  );
  await db.freeze('10 seconds');
  await report.update(db.pool);
  expect(await exportedWaiting()).toEqual([
    'backfills_oldest_seconds 100',
    'backfills{phase="cancelling"} 1',
    'backfills{phase="waiting"} 2',
    'backfills{phase="working"} 1',
    'digest_mails_waiting 1',
    'digests_due 3',
    'digests_oldest_due_seconds 50',
    'monitor_events_oldest_pending_seconds 10',
    'monitor_events_pending 2',
  ]);

  report.withdraw();
  expect(await exportedWaiting()).toEqual([]);
});
