import { credit } from '../billing/ledger.ts';
import type { Pack } from '../billing/rules/plans.ts';
import { inTransaction } from '../postgres/pool.ts';
import type { Pool, Queryable } from '../postgres/pool.ts';
import { sqlState } from '../postgres/postgres-unavailable.ts';
import { execute, isChanged, readRow, readRows, sql } from '../postgres/sql.ts';
import { newAccountId } from '../rules/identifiers.ts';
import { issueApiKey } from './api-keys.ts';
import { endOtherDashboardSessions } from './dashboard-sessions.ts';
import { mailboxOf } from './rules/mailbox.ts';

export interface StoredAccount {
  id: string;
  email: string;
  /** The canonical form of the address. */
  mailbox: string;
  status: 'active' | 'frozen' | 'deleted';
  /** Price in dollars of the largest pack bought; 0 when none. */
  pack: number;
  /** Credits. */
  balance: number;
  /** Credits of refunded packs that were already spent. */
  owed: number;
  createdAt: Date;
}

const ACCOUNTS = sql`SELECT id, email, mailbox, status, pack, balance, owed, created_at AS "createdAt" FROM accounts`;

/**
 * Adds an account with no credits and no pack. Waits for a concurrent insert of the same mailbox.
 *
 * @param account.mailbox canonical form of the address; a mailbox has at most one account
 * @returns false when the mailbox already has an account
 */
export async function insertAccount(
  db: Queryable,
  account: { id: string; email: string; mailbox: string },
): Promise<boolean> {
  return isChanged(db)`
    INSERT INTO accounts (id, email, mailbox) VALUES (${account.id}, ${account.email},
      ${account.mailbox}) ON CONFLICT (mailbox) DO NOTHING`;
}

/** Finds an account by id, or by its mailbox in canonical form. */
export async function findAccount(db: Queryable, idOrMailbox: string): Promise<StoredAccount | undefined> {
  return readRow<StoredAccount>(db)`
    ${ACCOUNTS}
    WHERE id = ${idOrMailbox} OR mailbox = ${idOrMailbox}`;
}

/** Locks an account until the transaction ends and reads it in the same statement. */
export async function lockAccount(db: Queryable, id: string): Promise<StoredAccount | undefined> {
  return readRow<StoredAccount>(db)`
    ${ACCOUNTS}
    WHERE id = ${id}
    FOR UPDATE`;
}

/** Lists accounts by id, after a given id; at most 1,000. */
export async function listAccounts(db: Queryable, afterId: string | undefined): Promise<StoredAccount[]> {
  return readRows<StoredAccount>(db)`
    ${ACCOUNTS}
    WHERE id > ${afterId ?? ''}
    ORDER BY id
    LIMIT 1000`;
}

/** Remembers that an account signed in from a network (a /24 or a /64), and forgets all but the last five. */
export async function recordSignInNetwork(db: Queryable, accountId: string, network: string): Promise<void> {
  // The lock keeps the address as it is: a change of it or a deletion under way comes first.
  await execute(db)`
    INSERT INTO sign_in_networks AS known (mailbox, networks)
    SELECT mailbox, ARRAY[${network}::text] FROM accounts WHERE id = ${accountId} AND status = 'active' FOR KEY SHARE
    ON CONFLICT (mailbox) DO UPDATE
      SET networks = (${network}::text || array_remove(known.networks, ${network}::text))[:5]`;
}

/** The networks from which the account of a mailbox signed in, the last one first. */
export async function listSignInNetworks(db: Queryable, mailbox: string): Promise<string[]> {
  const rows = await readRows<{ networks: string[] }>(db)`
    SELECT networks FROM sign_in_networks WHERE mailbox = ${mailbox}`;
  return rows[0]?.networks ?? [];
}

/**
 * Records that an account got a pack, and raises its limits when the pack is its largest. It adds no credits: call it
 * in the transaction that does.
 *
 * @param bought.id the payment's own id, or the grant's reference
 * @param bought.credits credits that came with the pack
 */
export async function recordPack(
  db: Queryable,
  bought: { id: string; accountId: string; pack: number; credits: number },
): Promise<void> {
  await execute(db)`
    WITH bought AS (
      INSERT INTO packs_bought (id, account_id, pack, credits) VALUES (${bought.id}, ${bought.accountId},
        ${bought.pack}, ${bought.credits})
      RETURNING account_id, pack
    )
    UPDATE accounts SET pack = greatest(accounts.pack, bought.pack)
    FROM bought
    WHERE accounts.id = bought.account_id`;
}

export interface NewAccount {
  email: string;
  /** Credits granted at once; 0 or more. */
  credits: number;
  /** Sets the limits only; 0 for none. */
  pack: Pack;
  keyName: string;
}

export interface OpenedAccount {
  accountId: string;
  /** Not available again later. */
  apiKey: string;
}

/**
 * Opens an account with its credits, its pack and a first key. Call it in a transaction, so that all of it is stored or
 * nothing.
 *
 * @returns undefined when the mailbox already has an account; nothing changes then
 */
export async function openAccount(db: Queryable, account: NewAccount): Promise<OpenedAccount | undefined> {
  const accountId = newAccountId();
  const isNew = await insertAccount(db, { id: accountId, email: account.email, mailbox: mailboxOf(account.email) });
  if (!isNew) return undefined;
  if (account.pack > 0) {
    await recordPack(db, { id: `granted:${accountId}`, accountId, pack: account.pack, credits: 0 });
  }
  if (account.credits > 0) {
    await credit(db, { accountId, kind: 'grant', credits: account.credits, reference: 'opening' });
  }
  return { accountId, apiKey: await issueApiKey(db, accountId, account.keyName) };
}

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
