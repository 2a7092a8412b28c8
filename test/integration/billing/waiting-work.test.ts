import { afterAll, beforeAll, expect, test } from 'vitest';
import { InstallationReport } from '../../../services/biller/installation-report.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { insertDigestMail } from '../../../shared/stores/digests/digest-mails.ts';
import { insertMonitorEvent } from '../../../shared/stores/events/monitor-events.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
const metrics = createMetrics();
const report = new InstallationReport(metrics);
beforeAll(async () => {
  db = await createTestDatabase();
  await db.freeze();
});
afterAll(() => db.drop());

const NAMES = ['backfills', 'digest', 'monitor_events'];

/** The lines of /metrics about work that waits. */
async function exported(): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n');
  return lines.filter((line) => NAMES.some((name) => line.startsWith(name)) && !line.includes('_total')).sort();
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
  expect(await exported()).toEqual([
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
});

test('nothing that waits is exported as 0, and nothing at all by a process that does not report', async () => {
  await db.pool.query('TRUNCATE backfills, monitor_digests, digest_mails, monitor_events');
  await report.update(db.pool);
  const lines = await exported();
  expect(lines).toHaveLength(9);
  expect(lines.map((line) => line.split(' ')[1])).toEqual(Array<string>(9).fill('0'));
  report.withdraw();
  expect(await exported()).toEqual([]);
});
