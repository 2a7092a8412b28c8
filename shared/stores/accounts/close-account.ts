import type { Pool, Queryable } from '../../postgres/pool.ts';
import { stopMonitors, withLockedAccount } from './lock-account-and-monitors.ts';
import { deleteOAuthRecordsOf } from './oauth-records.ts';

/**
 * Deletes an account, at once for everyone outside: its keys and tokens are refused, its monitors stop, its address is
 * forgotten. What its monitors gathered is queued for removal from both databases. The ledger stays. All of it happens,
 * or nothing.
 *
 * @param kept.mailboxHash keyed hash of the account's mailbox: remembers that it got its free credits
 * @returns false when there is no such account, or it is deleted already: then nothing changed
 */
export async function closeAccount(pool: Pool, accountId: string, kept: { mailboxHash: Buffer }): Promise<boolean> {
  const closed = await withLockedAccount(pool, accountId, async (client, { account, monitors }) => {
    if (account.status === 'deleted') return false;
    await stopMonitors(
      client,
      monitors.map(({ id }) => id),
      'deleted',
    );
    // What others may hold while they wait for the account's mailbox comes before the mailbox is touched.
    await deleteSignups(client, accountId);
    await rememberCreditedMailbox(client, kept.mailboxHash);
    await deleteKeptAnswers(client, accountId);
    await deleteOAuthRecordsOf(client, accountId);
    await anonymise(client, accountId);
    await revokeAllKeys(client, accountId);
    await queueErasure(client, accountId);
    return true;
  });
  return closed ?? false;
}

/** Sign-ups of the account's mailbox that wait for their code. While the account still has its mailbox. */
async function deleteSignups(db: Queryable, accountId: string): Promise<void> {
  await db.query('DELETE FROM signups WHERE mailbox = (SELECT mailbox FROM accounts WHERE id = $1)', [accountId]);
}

async function anonymise(db: Queryable, accountId: string): Promise<void> {
  await db.query(`UPDATE accounts SET status = 'deleted', email = '', mailbox = 'deleted:' || id WHERE id = $1`, [
    accountId,
  ]);
}

async function revokeAllKeys(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, service_now()), name = '' WHERE account_id = $1`,
    [accountId],
  );
}

/** One that a request holds, which may be waiting for a monitor that is locked here, expires within a day. */
async function deleteKeptAnswers(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    `WITH free AS MATERIALIZED (
       SELECT route, key FROM idempotency_keys WHERE account_id = $1 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM idempotency_keys k USING free WHERE k.account_id = $1 AND k.route = free.route AND k.key = free.key`,
    [accountId],
  );
}

async function rememberCreditedMailbox(db: Queryable, mailboxHash: Buffer): Promise<void> {
  await db.query('INSERT INTO credited_mailboxes (mailbox_hash) VALUES ($1) ON CONFLICT DO NOTHING', [mailboxHash]);
}

/** With all monitors that it ever had and that still have a row. */
async function queueErasure(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    `INSERT INTO account_erasures (account_id, monitor_ids)
     VALUES ($1, ARRAY(SELECT id FROM monitors WHERE account_id = $1 ORDER BY id))`,
    [accountId],
  );
}
