import type { Pool } from '../../postgres/pool.ts';
import { execute } from '../../postgres/sql.ts';
import { stopMonitors, withLockedAccount } from './lock-account-and-monitors.ts';
import { deleteAccountNotices } from '../notices/notices.ts';
import { deleteAccountOAuthRecords } from './oauth-records.ts';

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
    await stopMonitors(
      client,
      monitors.map(({ id }) => id),
      'deleted',
    );
    // A sign-up locks these rows before it waits for the mailbox. Take them in the same order to avoid a deadlock.
    await execute(client)`DELETE FROM signups WHERE mailbox = ${account.mailbox}`;
    await execute(client)`
      INSERT INTO credited_mailboxes AS kept (mailbox_hash, owed) VALUES (${kept.mailboxHash}, ${account.owed})
      ON CONFLICT (mailbox_hash) DO UPDATE SET owed = kept.owed + excluded.owed WHERE excluded.owed > 0`;
    // Rows that a running request has locked are skipped, because it may wait for a monitor that is locked here; they
    // expire within a day.
    await client.query(
      `WITH free AS MATERIALIZED (
         SELECT route, key FROM idempotency_keys WHERE account_id = $1 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM idempotency_keys k USING free WHERE k.account_id = $1 AND k.route = free.route AND k.key = free.key`,
      [accountId],
    );
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
    await client.query(
      `INSERT INTO account_erasures (account_id, monitor_ids)
       VALUES ($1, ARRAY(SELECT id FROM monitors WHERE account_id = $1 ORDER BY id))`,
      [accountId],
    );
    return true;
  });
  return closed ?? false;
}
