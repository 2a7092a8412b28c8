import { inTransaction } from '../postgres/pool.ts';
import type { Pool } from '../postgres/pool.ts';
import { execute } from '../postgres/sql.ts';
import { sqlState } from '../postgres/postgres-unavailable.ts';
import { endOtherDashboardSessions } from './dashboard-sessions.ts';
import { lockAccount } from './accounts.ts';

export interface AddressChange {
  accountId: string;
  /** Nothing changes when the account has another address by now. */
  oldEmail: string;
  newEmail: string;
  newMailbox: string;
  /** Keyed hashes of both mailboxes. */
  mailboxHashes: readonly Buffer[];
  /** The session that stays. */
  keptSessionId: string;
}

/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505';

/**
 * Changes the address of an account in one transaction: codes that were mailed to the old mailbox become invalid, other
 * sessions end, and both mailboxes count as ones that got their free credits, so that changing addresses never yields
 * credits again.
 *
 * @returns `taken` when another account has the new mailbox, `outdated` when the account has another address by now or
 * is not active; nothing changes then
 */
export async function changeAddress(pool: Pool, change: AddressChange): Promise<'changed' | 'taken' | 'outdated'> {
  try {
    return await inTransaction(pool, async (client) => {
      const account = await lockAccount(client, change.accountId);
      if (account?.status !== 'active' || account.email !== change.oldEmail) return 'outdated';
      // A sign-up locks these rows before it waits for the mailbox. Take them in the same order to avoid a deadlock.
      await execute(client)`DELETE FROM signups WHERE mailbox = ${account.mailbox}`;
      // A sign-up of the new mailbox takes them in this order too.
      await execute(client)`
        UPDATE accounts SET email = ${change.newEmail}, mailbox = ${change.newMailbox} WHERE id = ${change.accountId}`;
      await execute(client)`
        INSERT INTO credited_mailboxes (mailbox_hash)
        SELECT hash FROM unnest(${change.mailboxHashes}::bytea[]) AS hash
        ORDER BY hash
        ON CONFLICT DO NOTHING`;
      await endOtherDashboardSessions(client, change.accountId, change.keptSessionId);
      return 'changed';
    });
  } catch (error) {
    if (sqlState(error) === UNIQUE_VIOLATION) return 'taken';
    throw error;
  }
}
