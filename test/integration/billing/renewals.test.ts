import { afterEach, beforeEach, expect, test } from 'vitest';
import { runRenewalPass } from '../../../services/biller/renewal-pass.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { createMetrics } from '../../../shared/runtime/metrics.ts';
import type { Metrics } from '../../../shared/runtime/metrics.ts';
import { listDueMonitors, lockDueMonitors, readDueMonitors } from '../../../shared/billing/renewals.ts';
import { freezeAccount, unfreezeAccount } from '../../../shared/accounts/close-account.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import type { PayingAccount, PayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import { silentLogger } from '../../support/fixtures/silent-logger.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

let db: TestDatabase;
let metrics: Metrics;
beforeEach(async () => {
  db = await createTestDatabase();
  // The clock is frozen, so times can be compared to the millisecond.
  await db.freeze();
  metrics = createMetrics();
});
afterEach(() => db.drop());

function renew(): Promise<number> {
  return runRenewalPass({ pool: db.pool, metrics, logger: silentLogger(), signal: new AbortController().signal });
}

async function account(setup: Partial<PayingAccounts>): Promise<PayingAccount & { monitorId: string }> {
  const [inserted] = await insertPayingAccounts(db.pool, { accounts: 1, monitors: 1, credits: 100, ...setup });
  return { ...inserted!, monitorId: inserted!.monitorIds[0]! };
}

interface State {
  status: string;
  period_no: number;
  /** Time from now until the next charge. */
  due_in: string;
  was_updated: boolean;
}

async function stateOf(monitorId: string): Promise<State> {
  const { rows } = await db.pool.query<State>(
    `SELECT status, period_no, (extract(epoch FROM next_charge_at - service_now()) * interval '1 second')::text AS due_in,
       updated_at > created_at AS was_updated
     FROM monitors WHERE id = $1`,
    [monitorId],
  );
  return rows[0]!;
}

async function ledgerOf(accountId: string): Promise<{ balance: number; entries: unknown[][] }> {
  const { rows: accounts } = await db.pool.query<{ balance: number }>('SELECT balance FROM accounts WHERE id = $1', [
    accountId,
  ]);
  const { rows } = await db.pool.query<{ reference: string; amount: number; balance_after: number }>(
    `SELECT reference, amount, balance_after FROM ledger_entries
     WHERE account_id = $1 AND kind = 'monitor_renewal' ORDER BY id`,
    [accountId],
  );
  return {
    balance: accounts[0]!.balance,
    entries: rows.map(({ reference, amount, balance_after }) => [reference, amount, balance_after]),
  };
}

test.each([
  ['due just now', '0', '24:00:00'],
  ['due for a minute', '1 minute', '23:59:00'],
  ['due for a day', '24 hours', '24:00:00'],
  ['due for three days and an hour, with its time of day kept,', '73 hours', '23:00:00'],
  ['due for three days less a second', '71:59:59', '00:00:01'],
])('an active monitor %s is charged once and continues', async (_name, dueSince, dueIn) => {
  const { accountId, monitorId } = await account({ dueSince });
  expect(await renew()).toBe(1);
  expect(await stateOf(monitorId)).toEqual({ status: 'active', period_no: 2, due_in: dueIn, was_updated: false });
  expect(await ledgerOf(accountId)).toEqual({ balance: 90, entries: [[`${monitorId}:2`, -10, 90]] });
  expect(await renew()).toBe(0);
  expect((await ledgerOf(accountId)).balance).toBe(90);
});

test.each([
  ['9 credits', 9, 'paused_balance', 9],
  ['no credits', 0, 'paused_balance', 0],
  ['exactly 10 credits', 10, 'active', 0],
])('an account with %s', async (_name, credits, status, balance) => {
  const { accountId, monitorId } = await account({ credits });
  await db.freeze('1 second');
  expect(await renew()).toBe(1);
  const state = await stateOf(monitorId);
  expect([state.status, state.was_updated]).toEqual([status, status === 'paused_balance']);
  const ledger = await ledgerOf(accountId);
  expect([ledger.balance, ledger.entries.length]).toEqual([balance, status === 'active' ? 1 : 0]);
  expect(await renew()).toBe(0);
});

test('an account that can pay for some monitors pays for the first by id, and each entry has the balance after it', async () => {
  const [poor, rich] = [
    await account({ monitors: 5, credits: 34 }),
    await account({ monitors: 5, credits: 50, dueSince: '2 hours' }),
  ];
  expect(await renew()).toBe(10);
  expect(await Promise.all(poor.monitorIds.map(async (id) => (await stateOf(id)).status))).toEqual([
    'active',
    'active',
    'active',
    'paused_balance',
    'paused_balance',
  ]);
  expect(await ledgerOf(poor.accountId)).toEqual({
    balance: 4,
    entries: poor.monitorIds.slice(0, 3).map((id, at) => [`${id}:2`, -10, 24 - 10 * at]),
  });
  expect(await ledgerOf(rich.accountId)).toEqual({
    balance: 0,
    entries: rich.monitorIds.map((id, at) => [`${id}:2`, -10, 40 - 10 * at]),
  });
  const counts = await metrics.registry.getSingleMetric('renewals_total')!.get();
  expect(Object.fromEntries(counts.values.map(({ labels, value }) => [labels.outcome, value]))).toEqual({
    renewed: 8,
    paused_balance: 2,
    paused: 0,
  });
});

test('does not charge a frozen account and pauses its monitors, at once or when they are due', async () => {
  const { accountId, monitorIds } = await account({ monitors: 3 });
  await db.pool.query(`UPDATE monitors SET status = 'paused_balance' WHERE id = $1`, [monitorIds[2]]);
  const statuses = () => Promise.all(monitorIds.map(async (id) => (await stateOf(id)).status));
  expect(await freezeAccount(db.pool, accountId)).toBe(true);
  expect(await statuses()).toEqual(['paused', 'paused', 'paused_balance']);
  expect(await freezeAccount(db.pool, accountId)).toBe(false);
  // As if a request in flight had resumed it.
  await db.pool.query(`UPDATE monitors SET status = 'active' WHERE id = $1`, [monitorIds[0]]);
  expect(await renew()).toBe(1);
  expect(await statuses()).toEqual(['paused', 'paused', 'paused_balance']);
  expect(await ledgerOf(accountId)).toEqual({ balance: 100, entries: [] });
  expect([await unfreezeAccount(db.pool, accountId), await unfreezeAccount(db.pool, accountId)]).toEqual([true, false]);
  expect(await statuses()).toEqual(['paused', 'paused', 'paused_balance']);
  expect(await freezeAccount(db.pool, 'acc_none')).toBe(false);
});

test('does not charge a monitor that is paused after the list was read or during the lock statement', async () => {
  const { accountId, monitorIds } = await account({ monitors: 2 });
  const pause = (id: string) => db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [id]);
  const { monitors } = await listDueMonitors(db.pool, 10);
  await pause(monitorIds[0]!);
  await inTransaction(db.pool, async (client) => {
    const locked = await lockDueMonitors(
      client,
      monitors.map(({ id }) => id),
    );
    expect(locked).toEqual([monitorIds[1]]);
    // As if the pause had committed between the statement's snapshot and its lock.
    await pause(monitorIds[1]!);
    expect(await readDueMonitors(client, locked)).toEqual([]);
  });
  expect(await renew()).toBe(0);
  expect(await ledgerOf(accountId)).toEqual({ balance: 100, entries: [] });
});
