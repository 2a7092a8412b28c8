import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordBatch } from '../../../services/recorder/record-batch.ts';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import { lockAccount, recordSignInNetwork } from '../../../shared/accounts/accounts.ts';
import { issueApiKey } from '../../../shared/accounts/api-keys.ts';
import { closeAccount } from '../../../shared/accounts/close-account.ts';
import { eraseInPostgres, fillMonitors, rowsOfMonitors } from '../../support/oracles/biller-erasure.ts';
import { insertPayingAccounts } from '../../support/fixtures/biller-monitors.ts';
import type { PayingAccount } from '../../support/fixtures/biller-monitors.ts';
import { candidateOf } from '../../support/fixtures/recorder-fixtures.ts';
import { untilLockWaiters } from '../../support/fixtures/lock-waiters.ts';
import { createTestDatabase } from '../../support/fixtures/test-database.ts';
import type { TestDatabase } from '../../support/fixtures/test-database.ts';

const NOTHING = {
  matches: 0,
  delivery_attempts: 0,
  monitor_days: 0,
  monitor_versions: 0,
  monitor_states: 0,
  monitor_health: 0,
  monitor_mutes: 0,
  match_marks: 0,
  match_positions: 0,
  feed_tokens: 0,
  monitor_threads: 0,
  backfills: 0,
  monitor_digests: 0,
  match_mails: 0,
  monitor_events: 0,
  monitor_counters: 0,
  monitors: 0,
};

let db: TestDatabase;
let mine: PayingAccount;
let other: PayingAccount;
beforeEach(async () => {
  db = await createTestDatabase();
  [mine, other] = (await insertPayingAccounts(db.pool, { accounts: 2, monitors: 3, credits: 100 })) as [
    PayingAccount,
    PayingAccount,
  ];
});
afterEach(() => db.drop());

const mailboxHash = Buffer.from('hash of the mailbox');

function close(account = mine): Promise<boolean> {
  return closeAccount(db.pool, account.accountId, { mailboxHash });
}

async function select<T extends pg.QueryResultRow>(statement: string, ...values: unknown[]): Promise<T[]> {
  return (await db.pool.query<T>(statement, values)).rows;
}

/** All rows that identify an account, except the matches and attempts of its monitors. */
async function personal({ accountId }: PayingAccount): Promise<unknown> {
  return {
    account: await select('SELECT email, mailbox, status, balance FROM accounts WHERE id = $1', accountId),
    keys: await select(
      'SELECT name, revoked_at IS NOT NULL AS revoked FROM api_keys WHERE account_id = $1 ORDER BY id',
      accountId,
    ),
    monitors: await select('SELECT status FROM monitors WHERE account_id = $1 ORDER BY id', accountId),
    answers: await select('SELECT key FROM idempotency_keys WHERE account_id = $1', accountId),
    entries: await select('SELECT kind, amount FROM ledger_entries WHERE account_id = $1', accountId),
    signups: await select('SELECT FROM signups WHERE mailbox = $1', `${accountId}@example.com`),
    networks: await select('SELECT networks FROM sign_in_networks WHERE mailbox LIKE $1', `%${accountId}%`),
  };
}

async function addPersonalRows({ accountId }: PayingAccount): Promise<void> {
  await recordSignInNetwork(db.pool, accountId, '192.0.2.0/24');
  await issueApiKey(db.pool, accountId, 'laptop');
  await issueApiKey(db.pool, accountId, 'old phone');
  await db.pool.query(`UPDATE api_keys SET revoked_at = service_now() WHERE account_id = $1 AND name = 'old phone'`, [
    accountId,
  ]);
  await db.pool.query(
    `INSERT INTO idempotency_keys (account_id, route, key, body_hash, answer) VALUES ($1, 'POST /v1/monitors', 'k', '', '')`,
    [accountId],
  );
  await db.pool.query(
    `INSERT INTO signups (token_hash, email, mailbox, code_hash, expires_at)
     VALUES (sha256($1::bytea), $2, $2, '', service_now() + interval '10 minutes')`,
    [accountId, `${accountId}@example.com`],
  );
}

test('deleting an account removes its personal data and keeps its ledger and the data of other accounts', async () => {
  await addPersonalRows(mine);
  await addPersonalRows(other);
  await db.pool.query(`UPDATE monitors SET status = 'paused' WHERE id = $1`, [mine.monitorIds[1]]);
  await db.pool.query(`UPDATE monitors SET status = 'deleted' WHERE id = $1`, [mine.monitorIds[2]]);
  const before = await personal(other);
  expect(await close()).toBe(true);
  expect(await personal(mine)).toEqual({
    account: [{ email: '', mailbox: `deleted:${mine.accountId}`, status: 'deleted', balance: 100 }],
    keys: [
      { name: '', revoked: true },
      { name: '', revoked: true },
    ],
    monitors: [{ status: 'deleted' }, { status: 'deleted' }, { status: 'deleted' }],
    answers: [],
    entries: [{ kind: 'grant', amount: 100 }],
    signups: [],
    networks: [],
  });
  expect(await personal(other)).toEqual(before);
  expect(await select('SELECT mailbox_hash FROM credited_mailboxes')).toEqual([{ mailbox_hash: mailboxHash }]);
  expect(await select('SELECT account_id, monitor_ids, finished_at FROM account_erasures')).toEqual([
    { account_id: mine.accountId, monitor_ids: mine.monitorIds, finished_at: null },
  ]);
});

test('deletes a monitor whose creation commits during the deletion of its account', async () => {
  const { accountId } = mine;
  let closing: Promise<boolean> | undefined;
  await inTransaction(db.pool, async (client) => {
    await lockAccount(client, accountId);
    await client.query(
      `INSERT INTO monitors (id, account_id, name, keywords, webhook_secret, active_since, next_charge_at)
       VALUES ('mon_late', $1, 'late', '{rust}', '', wall_now(), service_now() + interval '1 day')`,
      [accountId],
    );
    await client.query(`INSERT INTO monitor_counters (monitor_id) VALUES ('mon_late')`);
    closing = close();
    await untilLockWaiters(db.pool);
  });
  expect(await closing).toBe(true);
  expect(await select(`SELECT id FROM monitors WHERE account_id = $1 AND status <> 'deleted'`, accountId)).toEqual([]);
  const [erasure] = await select<{ monitor_ids: string[] }>('SELECT monitor_ids FROM account_erasures');
  expect(erasure!.monitor_ids).toContain('mon_late');
});

test('erases the matches and monitors of an account, and keeps contents and the data of other accounts', async () => {
  await fillMonitors(db.pool, [...mine.monitorIds, ...other.monitorIds], 100);
  const candidate = candidateOf({ monitorId: mine.monitorIds[0]!, thingId: 't1_shared' });
  await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidate]);
  const before = await rowsOfMonitors(db.pool, other.monitorIds);
  await eraseInPostgres(db.pool);
  expect(await rowsOfMonitors(db.pool, mine.monitorIds)).toMatchObject({ matches: 301, monitors: 3 });
  await close();
  await eraseInPostgres(db.pool);
  expect(await rowsOfMonitors(db.pool, mine.monitorIds)).toEqual(NOTHING);
  expect(await rowsOfMonitors(db.pool, other.monitorIds)).toEqual(before);
  expect(await select('SELECT thing_id FROM matched_items')).toEqual([{ thing_id: 't1_shared' }]);
  expect(await select('SELECT erased_here_at IS NULL AS open, finished_at FROM account_erasures')).toEqual([
    { open: false, finished_at: null },
  ]);
  expect(await recordBatch({ pool: db.pool, toleranceMs: 0 }, [candidate])).toMatchObject({ matches: [] });
});

test('an erasure that is stopped at any point is resumed later and finishes', async () => {
  // 36,000 attempts of 18,000 matches need several statements each.
  await fillMonitors(db.pool, mine.monitorIds, 6_000);
  await close();
  const left: number[] = [];
  const isOpen = async () => (await select('SELECT FROM account_erasures WHERE erased_here_at IS NULL')).length > 0;
  for (let allowed = 0; await isOpen(); allowed++) {
    expect(allowed).toBeLessThan(20);
    let steps = 1 + (allowed % 3);
    await eraseInPostgres(db.pool, () => steps-- > 0);
    const rows = await rowsOfMonitors(db.pool, mine.monitorIds);
    if (rows.matches! + rows.delivery_attempts! > 0) expect(rows.monitors, 'the monitors are deleted last').toBe(3);
    left.push(Object.values(rows).reduce((sum, count) => sum + count, 0));
  }
  expect(left.at(-1)).toBe(0);
  expect(left.length).toBeGreaterThan(4);
  expect(left).toEqual(left.toSorted((a, b) => b - a));
});
