import { randomUUID } from 'node:crypto';
import { inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { isPostgresAway } from '../../../shared/postgres/postgres-away.ts';
import { CallBatcher } from '../../../shared/runtime/call-batcher.ts';
import { lockAccount } from '../../../shared/stores/accounts/accounts.ts';
import { charge, chargeTogether } from '../../../shared/stores/accounts/ledger.ts';
import type { ChargeKind, LedgerMove } from '../../../shared/stores/accounts/ledger.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../admission/authentication.ts';

/** What a request cost, and the balance afterwards. */
export interface Charged {
  credits: number;
  balance: number;
}

/** Before any cache or the forum is asked. @throws ApiError insufficient_credits */
export function refuseWithoutCredits({ balance }: Caller): void {
  if (balance < 1) throw tooFewCredits();
}

/**
 * Charges requests when their answers are ready. Those that come together share a statement and its commit.
 *
 * Each charge is a transaction, whose COMMIT is sent only once the server has answered the charge: a server that stood
 * still until the request was given up, and answered as uncharged, does not commit it afterwards
 * (`idleInTransactionMs`). No clock decides that.
 */
export class ReadingCharges {
  private readonly pool: Pool;
  private readonly together: CallBatcher<LedgerMove<ChargeKind>, number | undefined>;

  constructor(pool: Pool) {
    this.pool = pool;
    this.together = new CallBatcher({
      run: (moves) => inTransaction(pool, (client) => chargeTogether(client, moves)),
      isShared: isPostgresAway,
    });
  }

  /**
   * All or nothing.
   *
   * @throws ApiError insufficient_credits when others have spent the balance meanwhile; nothing is charged then
   */
  async charge(caller: Caller, credits: number): Promise<Charged> {
    const move = moveOf(caller, credits);
    // What could not be charged along with others may still be: somebody else had the account locked, or the last
    // credits are in it.
    const balance =
      (await this.together.call(move)) ?? (await inTransaction(this.pool, (client) => charge(client, move)));
    if (balance === undefined) throw tooFewCredits();
    return { credits, balance };
  }

  /**
   * As much of it as the balance covers, at least one credit: for a request that can be answered in part.
   *
   * @throws ApiError insufficient_credits when there is none left
   */
  async chargeCovered(caller: Caller, credits: number): Promise<Charged> {
    const whole = await this.together.call(moveOf(caller, credits));
    if (whole !== undefined) return { credits, balance: whole };
    return inTransaction(this.pool, async (client) => {
      const covered = Math.min(credits, (await lockAccount(client, caller.accountId))?.balance ?? 0);
      const balance = covered < 1 ? undefined : await charge(client, moveOf(caller, covered));
      if (balance === undefined) throw tooFewCredits();
      return { credits: covered, balance };
    });
  }
}

function moveOf({ accountId }: Caller, credits: number): LedgerMove<ChargeKind> {
  return { accountId, kind: 'read', credits, reference: randomUUID() };
}

function tooFewCredits(): ApiError {
  return new ApiError('insufficient_credits', 'The account has no credits left.');
}
