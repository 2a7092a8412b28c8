import type { Queryable } from '../../postgres/pool.ts';
import { lockAccount, recordPack } from './accounts.ts';
import { credit } from './ledger.ts';

export interface BoughtPack {
  /** The payment's own id, or the grant's reference. A pack with this id is given once. */
  id: string;
  accountId: string;
  /** Price in dollars. */
  pack: number;
  /** Above 0. */
  credits: number;
}

/**
 * Gives an account a pack: its credits, and its limits when it is the account's largest. Call it in a transaction.
 *
 * @returns the balance afterwards
 * @throws a unique violation when it was given before; the transaction must then be rolled back
 */
export async function givePack(db: Queryable, bought: BoughtPack): Promise<number> {
  await lockAccount(db, bought.accountId);
  await recordPack(db, bought);
  const { accountId, credits, id } = bought;
  return credit(db, { accountId, kind: 'pack', credits, reference: id });
}

export interface RefundedPack {
  accountId: string;
  /** Credits taken from the balance. */
  taken: number;
  /** Credits that were already spent, and are now owed. */
  owed: number;
  balance: number;
}

/**
 * Refunds a pack: removes its limits, and takes its credits as far as the balance covers them. The remainder is owed,
 * and later credits pay it first. Call it in a transaction.
 *
 * @returns undefined when the pack does not exist or was refunded before; nothing changes then
 */
export async function refundPack(db: Queryable, id: string): Promise<RefundedPack | undefined> {
  const { rows } = await db.query<{ account_id: string }>('SELECT account_id FROM packs_bought WHERE id = $1', [id]);
  const accountId = rows[0]?.account_id;
  if (accountId === undefined) return undefined;
  const account = await lockAccount(db, accountId);
  const credits = await markRefunded(db, id);
  if (!account || credits === undefined) return undefined;
  const taken = Math.min(credits, account.balance);
  const owed = credits - taken;
  await lowerAccount(db, { accountId, taken, owed });
  if (taken > 0) await insertRefund(db, { accountId, taken, balance: account.balance - taken, reference: id });
  return { accountId, taken, owed, balance: account.balance - taken };
}

/** Returns the pack's credits; undefined when it was refunded before. Requires the account's lock. */
async function markRefunded(db: Queryable, id: string): Promise<number | undefined> {
  const { rows } = await db.query<{ credits: number }>(
    `UPDATE packs_bought SET refunded_at = service_now() WHERE id = $1 AND refunded_at IS NULL
     RETURNING credits`,
    [id],
  );
  return rows[0]?.credits;
}

async function lowerAccount(
  db: Queryable,
  { accountId, taken, owed }: { accountId: string; taken: number; owed: number },
): Promise<void> {
  await db.query(
    `UPDATE accounts
     SET balance = balance - $2, owed = owed + $3,
       pack = (SELECT coalesce(max(pack), 0) FROM packs_bought WHERE account_id = $1 AND refunded_at IS NULL)
     WHERE id = $1`,
    [accountId, taken, owed],
  );
}

async function insertRefund(
  db: Queryable,
  refund: { accountId: string; taken: number; balance: number; reference: string },
): Promise<void> {
  await db.query(
    `INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
     VALUES ($1, 'refund', -$2::bigint, $3, $4)`,
    [refund.accountId, refund.taken, refund.balance, refund.reference],
  );
}
