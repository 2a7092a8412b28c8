import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { startBiller } from '../../../services/biller/start-biller.ts';
import { createClickhouse } from '../../../shared/clickhouse/clickhouse-client.ts';
import { createKafka } from '../../../shared/kafka/kafka-connection.ts';
import { createPool } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import { findRenewalFaults, insertPayingAccounts, NO_FAULTS } from '../../support/fixtures/biller-monitors.ts';
import type { KilledBillerJob } from '../../support/children/biller-killed-at-commit.ts';
import { eventually } from '../../support/fixtures/eventually.ts';
import { unusedMailer } from '../../support/fakes/unused-mailer.ts';
import { SECRET_BOX } from '../../support/fixtures/notices/notice-jobs.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { TcpProxy } from '../../support/fakes/tcp-proxy.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const KILLED_CHILD = join(import.meta.dirname, '../../support/children/biller-killed-at-commit.ts');

let db: TestDatabase;
beforeEach(async () => {
  db = await createTestDatabase();
});
afterEach(() => db.drop());

/** Runs passes until nothing is due, as the service does; returns how many monitors this biller renewed or stopped. */
async function drain(pool: Pool, batchSize = 100): Promise<number> {
  const logger = silentLogger();
  const { signal } = new AbortController();
  let decided = 0;
  while ((await countDue()) > 0) {
    decided += await runRenewalPass({ pool, metrics: createMetrics(), logger, signal, batchSize });
  }
  return decided;
}

async function count(condition: string): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(`SELECT count(*) AS n FROM monitors WHERE ${condition}`);
  return rows[0]!.n;
}

function countDue(): Promise<number> {
  return count(`status = 'active' AND next_charge_at <= service_now()`);
}

async function countRenewals(): Promise<number> {
  const { rows } = await db.pool.query<{ n: number }>(
    `SELECT count(*) AS n FROM ledger_entries WHERE kind = 'monitor_renewal'`,
  );
  return rows[0]!.n;
}

test('two concurrent billers charge each of 3,000 due monitors exactly once, and both take part', async () => {
  await insertPayingAccounts(db.pool, { accounts: 140, monitors: 20, credits: 1_000 });
  await insertPayingAccounts(db.pool, { accounts: 10, monitors: 20, credits: 105 });
  const pools = [1, 2].map((name) => createPool({ url: db.url, name: `biller-${name}`, logger: silentLogger() }));
  const decided = await Promise.all(pools.map((pool) => drain(pool)));
  await Promise.all(pools.map((pool) => pool.end()));
  expect(decided[0]! + decided[1]!).toBe(3_000);
  expect(Math.min(...decided)).toBeGreaterThan(0);
  expect(await findRenewalFaults(db.pool)).toEqual(NO_FAULTS);
  expect([await count('period_no = 2'), await count(`status = 'paused_balance'`)]).toEqual([2_900, 100]);
  expect(await countRenewals()).toBe(2_900);
});

test.each(['before', 'after'] as const)(
  'after a biller is killed right %s its third commit, the next one finishes and each monitor is charged exactly once',
  async (moment) => {
    await insertPayingAccounts(db.pool, { accounts: 50, monitors: 10, credits: 1_000 });
    const job: KilledBillerJob = { postgresUrl: db.url, batchSize: 50, commit: 3, moment };
    const child = spawn(process.execPath, [KILLED_CHILD, JSON.stringify(job)], { stdio: 'inherit' });
    expect(await new Promise((resolve) => child.once('exit', (_code, name) => resolve(name)))).toBe('SIGKILL');
    await eventually('its transaction has ended', async () => {
      const { rows } = await db.pool.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'killed-biller' AND datname = current_database()`,
      );
      return rows.length === 0;
    });
    const done = moment === 'before' ? 100 : 150;
    expect([await countRenewals(), await count('period_no = 2')]).toEqual([done, done]);
    expect(await findRenewalFaults(db.pool)).toEqual(NO_FAULTS);
    expect(await drain(db.pool)).toBe(500 - done);
    expect([await countRenewals(), await count('period_no = 2')]).toEqual([500, 500]);
    expect(await findRenewalFaults(db.pool)).toEqual(NO_FAULTS);
  },
);

test('a running biller renews monitors as they become due, also after an outage of Postgres', async () => {
  // So many that no run finds a low balance, whose mail this test does not take.
  await insertPayingAccounts(db.pool, { accounts: 2, monitors: 5, credits: 100_000, dueSince: '-1 hour' });
  const proxy = await TcpProxy.start(db.url);
  const pool = createPool({ url: proxy.url, name: 'biller', logger: silentLogger() });
  const logger = silentLogger();
  const unexpected: Error[] = [];
  const biller = startBiller({
    pool,
    kafka: createKafka({ brokers: ['127.0.0.1:9'], clientId: 'test', logger }),
    prefix: '',
    clickhouse: createClickhouse('http://127.0.0.1:9', 'test'),
    mailer: unusedMailer(),
    dashboardUrl: 'http://127.0.0.1:9',
    secretBox: SECRET_BOX,
    metrics: createMetrics(),
    logger,
    fatal: (error) => void unexpected.push(error),
  });
  for (const [shift, period] of [
    ['2 hours', 2],
    ['26 hours', 3],
  ] as const) {
    await db.setShift(shift);
    await eventually('all are renewed', async () => (await count(`period_no = ${period}`)) === 10);
    proxy.goAway();
    await eventually('the biller has lost its connections', () => pool.totalCount === 0);
    proxy.comeBack();
  }
  await biller.stop();
  await pool.end();
  await proxy.stop();
  expect(unexpected).toEqual([]);
  expect(await findRenewalFaults(db.pool)).toEqual(NO_FAULTS);
});
