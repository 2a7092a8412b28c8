import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool, Queryable } from '../../../shared/postgres/pool.ts';
import { lockAccount } from '../../../shared/stores/accounts.ts';
import { charge } from '../../../shared/stores/ledger.ts';
import { ApiError } from '../api-error.ts';
import type { Caller } from '../authentication.ts';

/** What a request cost, and the balance afterwards. */
export interface Charged {
  credits: number;
  balance: number;
}

/** @throws ApiError insufficient_scope */
export function mayRead(caller: Caller): void {
  if (!caller.scopes.includes('forum:read')) {
    throw new ApiError('insufficient_scope', 'This key lacks the permission forum:read.');
  }
}

/** Before any cache or the forum is asked. @throws ApiError insufficient_credits */
export function refuseWithoutCredits({ balance }: Caller): void {
  if (balance < 1) throw tooFewCredits();
}

/**
 * Charges a request when its answer is ready, all or nothing.
 *
 * @throws ApiError insufficient_credits when others have spent the balance meanwhile; nothing is charged then
 */
export async function chargeReading(db: Queryable, caller: Caller, credits: number): Promise<Charged> {
  const balance = await charge(db, {
    accountId: caller.accountId,
    kind: 'read',
    credits,
    reference: randomUUID(),
  });
  if (balance === undefined) throw tooFewCredits();
  return { credits, balance };
}

/**
 * Charges what the balance covers of a request that can be answered in part, at least one credit.
 *
 * @throws ApiError insufficient_credits when there is none left
 */
export async function chargeCovered(pool: Pool, caller: Caller, credits: number): Promise<Charged> {
  return inTransaction(pool, async (client) => {
    const balance = (await lockAccount(client, caller.accountId))?.balance ?? 0;
    const covered = Math.min(credits, balance);
    if (covered < 1) throw tooFewCredits();
    return chargeReading(client, caller, covered);
  });
}

function tooFewCredits(): ApiError {
  return new ApiError('insufficient_credits', 'The account has no credits left.');
}
