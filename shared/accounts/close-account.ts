import type { MonitorStatus } from '../../schemas/api/monitors.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { Pool, PoolClient, Queryable } from '../postgres/pool.ts';
import { execute, isChanged, readRows } from '../postgres/sql.ts';
import { stopMonitors } from '../monitors/monitors.ts';
import { deleteAccountNotices } from '../notices/notices.ts';
import { lockAccount } from './accounts.ts';
import type { StoredAccount } from './accounts.ts';
import { deleteAccountOAuthRecords } from './sealed-records.ts';

/**
 * Deletes an account in one transaction: its keys and tokens are refused, its monitors stop and its address is
 * removed. The data of its monitors is queued for erasure from both databases. The ledger stays, and so does what the
 * account owes, with the mailbox.
 *
 * @param kept.mailboxHash keyed hash of the account's mailbox; records that the mailbox got its free credits
 * @returns false when the account does not exist or is already deleted; nothing changes then
 */
export async function closeAccount(pool: Pool, accountId: string, kept: { mailboxHash: Buffer }): Promise<boolean> {
  const closed = await withLockedAccount(pool, accountId, async (client, { account, monitors }) => {
    if (account.status === 'deleted') return false;
    const stopped = monitors.map(({ id }) => ({ id, status: 'deleted' as const }));
    await stopMonitors(client, stopped);
    // A sign-up locks these rows before it waits for the mailbox. Take them in the same order to avoid a deadlock.
    await execute(client)`DELETE FROM signups WHERE mailbox = ${account.mailbox}`;
    await execute(client)`
      INSERT INTO credited_mailboxes AS kept (mailbox_hash, owed) VALUES (${kept.mailboxHash}, ${account.owed})
      ON CONFLICT (mailbox_hash) DO UPDATE SET owed = kept.owed + excluded.owed WHERE excluded.owed > 0`;
    // Rows that a running request has locked are skipped, because it may wait for a monitor that is locked here; they
    // expire within a day.
    await execute(client)`
      WITH free AS MATERIALIZED (
        SELECT route, key FROM idempotency_keys WHERE account_id = ${accountId} FOR UPDATE SKIP LOCKED
      )
      DELETE FROM idempotency_keys k USING free WHERE k.account_id = ${accountId} AND k.route = free.route AND k.key =
        free.key`;
    await deleteAccountOAuthRecords(client, accountId);
    await execute(client)`DELETE FROM dashboard_sessions WHERE account_id = ${accountId}`;
    await execute(client)`DELETE FROM sign_in_networks WHERE mailbox = ${account.mailbox}`;
    await deleteAccountNotices(client, accountId);
    await execute(client)`DELETE FROM digest_mails WHERE account_id = ${accountId}`;
    await execute(client)`
      UPDATE accounts SET status = 'deleted', email = '', mailbox = 'deleted:' || id WHERE id = ${accountId}`;
    await execute(client)`
      UPDATE api_keys SET revoked_at = coalesce(revoked_at, service_now()), name = '' WHERE account_id = ${accountId}`;
    // All monitors of the account that still have a row.
    await execute(client)`
      INSERT INTO account_erasures (account_id, monitor_ids)
      VALUES (${accountId}, ARRAY(SELECT id FROM monitors WHERE account_id = ${accountId} ORDER BY id))`;
    return true;
  });
  return closed ?? false;
}

/** Its keys are refused and its running monitors paused. @returns false when it does not exist or is not active */
export async function freezeAccount(pool: Pool, accountId: string): Promise<boolean> {
  const frozen = await withLockedAccount(pool, accountId, async (client, { account, monitors }) => {
    if (account.status !== 'active') return false;
    const running = monitors.filter(({ status }) => status === 'active');
    await stopMonitors(
      client,
      running.map(({ id }) => ({ id, status: 'paused' })),
    );
    await execute(client)`UPDATE accounts SET status = 'frozen' WHERE id = ${accountId}`;
    return true;
  });
  return frozen ?? false;
}

/** Its monitors stay paused, because resuming one costs credits. @returns false when it is not frozen */
export async function unfreezeAccount(db: Queryable, accountId: string): Promise<boolean> {
  return isChanged(db)`UPDATE accounts SET status = 'active' WHERE id = ${accountId} AND status = 'frozen'`;
}

/** A locked account with its locked monitors, without deleted ones. */
export interface LockedAccount {
  account: StoredAccount;
  monitors: { id: string; status: MonitorStatus }[];
}

/** A monitor was created after the list of monitors to lock was read. */
class MonitorCreated extends Error {
  override name = 'MonitorCreated';
}

/**
 * Runs `work` in a transaction that holds the locks of an account and of all its monitors. Until it commits, nobody
 * else can start, stop, change or create a monitor of the account, record a match of one, or move the account's
 * credits.
 *
 * @returns what `work` returns; undefined when the account does not exist (`work` does not run then)
 */
export async function withLockedAccount<T>(
  pool: Pool,
  accountId: string,
  work: (client: PoolClient, whole: LockedAccount) => Promise<T>,
): Promise<T | undefined> {
  for (;;) {
    try {
      return await inTransaction(pool, async (client) => {
        const whole = await lockAccountAndMonitors(client, accountId);
        return whole && (await work(client, whole));
      });
    } catch (error) {
      if (!(error instanceof MonitorCreated)) throw error;
    }
  }
}

/** In the lock order of the service, which begins with the monitors. @throws MonitorCreated: start again */
async function lockAccountAndMonitors(db: Queryable, accountId: string): Promise<LockedAccount | undefined> {
  const listed = await readRows<{ id: string }>(db)`
    SELECT id FROM monitors WHERE account_id = ${accountId} AND status <> 'deleted'`;
  const ids = listed.map(({ id }) => id);
  await execute(db)`SELECT FROM monitor_counters WHERE monitor_id = ANY (${ids}) ORDER BY monitor_id FOR UPDATE`;
  await execute(db)`SELECT FROM monitors WHERE id = ANY (${ids}) ORDER BY id FOR NO KEY UPDATE`;
  const account = await lockAccount(db, accountId);
  if (!account) return undefined;
  const monitors = await readRows<LockedAccount['monitors'][number]>(db)`
    SELECT id, status FROM monitors WHERE account_id = ${accountId} AND status <> 'deleted' ORDER BY id`;
  const locked = new Set(ids);
  if (monitors.some(({ id }) => !locked.has(id))) throw new MonitorCreated();
  return { account, monitors };
}
