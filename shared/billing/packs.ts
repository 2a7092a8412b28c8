import type { Queryable } from '../postgres/pool.ts';
import { execute, readOne, readRows } from '../postgres/sql.ts';
import { lockAccount, recordPack } from '../accounts/accounts.ts';
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
 * Refunds a pack for good: removes its limits, and takes its credits as far as the balance covers them. The remainder
 * is owed, and later credits pay it first. Call it in a transaction.
 *
 * @returns undefined when the pack does not exist or is already refunded; nothing changes then
 */
export async function refundPack(db: Queryable, id: string): Promise<RefundedPack | undefined> {
  const pack = await lockPack(db, id);
  if (pack === undefined || pack.isRefunded) return undefined;
  await execute(db)`UPDATE packs_bought SET withdrawn = true WHERE id = ${id}`;
  return takeBack(db, pack, pack.credits);
}

/**
 * Takes back that many credits of a pack in total, or returns what was taken back beyond them. A pack without any
 * credits left also loses its limits, and gets them back with its first credits. Call it in a transaction.
 *
 * @param credits 0 to the credits of the pack
 * @returns the change of the credits that are taken back: negative when some were returned. 0 when nothing changed:
 * that many are taken back already, or the pack does not exist or was refunded for good
 */
export async function setCreditsTakenBack(db: Queryable, id: string, credits: number): Promise<number> {
  const pack = await lockPack(db, id);
  if (pack === undefined || pack.isWithdrawn || pack.takenBack === credits) return 0;
  if (credits > pack.takenBack) await takeBack(db, pack, credits);
  else await giveBack(db, pack, credits);
  return credits - pack.takenBack;
}

interface LockedPack {
  id: string;
  accountId: string;
  credits: number;
  takenBack: number;
  isRefunded: boolean;
  isWithdrawn: boolean;
  balance: number;
}

/** Locks the account of a pack, and reads the pack under its lock; undefined when the pack does not exist. */
async function lockPack(db: Queryable, id: string): Promise<LockedPack | undefined> {
  const found = await readRows<{ account_id: string }>(db)`SELECT account_id FROM packs_bought WHERE id = ${id}`;
  const account = found[0] && (await lockAccount(db, found[0].account_id));
  if (account === undefined) return undefined;
  const rows = await readRows<Omit<LockedPack, 'balance'>>(db)`
    SELECT id, account_id AS "accountId", credits, taken_back AS "takenBack", refunded_at IS NOT NULL AS "isRefunded",
      withdrawn AS "isWithdrawn"
    FROM packs_bought
    WHERE id = ${id}`;
  return { ...rows[0]!, balance: account.balance };
}

async function takeBack(db: Queryable, pack: LockedPack, credits: number): Promise<RefundedPack> {
  const { accountId, balance } = pack;
  const due = credits - pack.takenBack;
  const reference = await storeTakenBack(db, pack.id, credits);
  const taken = Math.min(due, balance);
  const owed = due - taken;
  await lowerAccount(db, accountId, taken, owed);
  if (taken > 0) {
    await execute(db)`
      INSERT INTO ledger_entries (account_id, kind, amount, balance_after, reference)
      VALUES (${accountId}, 'refund', -${taken}::bigint, ${balance - taken}, ${reference})`;
  }
  return { accountId, taken, owed, balance: balance - taken };
}

async function giveBack(db: Queryable, pack: LockedPack, credits: number): Promise<void> {
  const { accountId } = pack;
  const reference = await storeTakenBack(db, pack.id, credits);
  await credit(db, { accountId, kind: 'pack', credits: pack.takenBack - credits, reference });
  await lowerAccount(db, accountId, 0, 0);
}

/** Returns the reference of the ledger row: the pack's id, and from its second change on the number of the change. */
async function storeTakenBack(db: Queryable, id: string, credits: number): Promise<string> {
  const { changes } = await readOne<{ changes: number }>(db)`
    UPDATE packs_bought
    SET taken_back = ${credits}, changes = changes + 1, refunded_at = CASE WHEN ${credits} = credits THEN service_now()
      END
    WHERE id = ${id}
    RETURNING changes`;
  return changes === 1 ? id : `${id}:${changes}`;
}

/** Changes the balance and what is owed, and sets the limits to those of the largest pack that is left. */
async function lowerAccount(db: Queryable, accountId: string, taken: number, owed: number): Promise<void> {
  await execute(db)`
    UPDATE accounts
    SET balance = balance - ${taken}, owed = owed + ${owed},
      pack = (SELECT coalesce(max(pack), 0) FROM packs_bought WHERE account_id = ${accountId} AND refunded_at IS NULL)
    WHERE id = ${accountId}`;
}
