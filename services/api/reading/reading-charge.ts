import { randomUUID } from 'node:crypto';
import { eachInTransaction, inTransaction } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { CallBatcher } from '../../../shared/runtime/call-batcher.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { lockAccount } from '../../../shared/accounts/accounts.ts';
import { chargeLocally, chargeTogether } from '../../../shared/billing/ledger.ts';
import type { ChargedRequest, ChargeKind, LedgerMove } from '../../../shared/billing/ledger.ts';
import { ApiError } from '../http/api-error.ts';
import { UnknownCharges } from '../http/unknown-charges.ts';
import type { Caller } from '../admission/caller.ts';

/** What a request cost, and the balance after it. */
export interface Charged {
  credits: number;
  balance: number;
}

/**
 * Call this before reading any cache or the forum.
 *
 * @throws ApiError insufficient_credits
 */
export function refuseWithoutCredits({ balance }: Caller): void {
  if (balance < 1) throw insufficientCredits();
}

/**
 * Charges requests when their answers are ready. Concurrent charges share one statement and one commit.
 *
 * Each charge is a transaction. The client sends COMMIT only after the server answers the charge. So a server that
 * hangs until the request times out, and the request is answered as uncharged, does not commit the charge later
 * (`idleInTransactionMs`). No COMMIT waits for a standby (`chargeLocally`). One whose connection breaks, or whose
 * server's disk hangs, can outlast the request: the answer says that the outcome is unknown then, and the charge is
 * reversed (`UnknownCharges`).
 */
export class ReadingCharges {
  private readonly pool: Pool;
  private readonly unknown: UnknownCharges;
  private readonly batcher: CallBatcher<LedgerMove<ChargeKind>, number | undefined>;

  constructor(pool: Pool, logger: Logger) {
    this.pool = pool;
    this.unknown = new UnknownCharges(pool, logger);
    this.batcher = new CallBatcher({
      run: (moves) => chargeTogether(eachInTransaction(pool), moves),
      isShared: isPostgresUnavailable,
    });
  }

  /**
   * Charges all of the credits or nothing.
   *
   * @throws ApiError insufficient_credits when other requests spent the balance meanwhile; nothing is charged
   */
  async charge(caller: Caller, credits: number, request: ChargedRequest): Promise<Charged> {
    const move = moveOf(caller, credits, request);
    // A charge that fails in the batch may succeed alone: the account was locked, or only a smaller charge of the batch
    // fits into the balance.
    const balance = await this.unknown.watch(
      move,
      async () =>
        (await this.batcher.call(move)) ?? (await inTransaction(this.pool, (client) => chargeLocally(client, move))),
    );
    if (balance === undefined) throw insufficientCredits();
    return { credits, balance };
  }

  /**
   * Charges as much as the balance covers, at least one credit. For requests that can be answered in part.
   *
   * @throws ApiError insufficient_credits when the balance is 0
   */
  async chargeCovered(caller: Caller, credits: number, request: ChargedRequest): Promise<Charged> {
    const move = moveOf(caller, credits, request);
    return this.unknown.watch(move, async () => {
      const whole = await this.batcher.call(move);
      if (whole !== undefined) return { credits, balance: whole };
      return inTransaction(this.pool, async (client) => {
        const covered = Math.min(credits, (await lockAccount(client, caller.accountId))?.balance ?? 0);
        const balance = covered < 1 ? undefined : await chargeLocally(client, { ...move, credits: covered });
        if (balance === undefined) throw insufficientCredits();
        return { credits: covered, balance };
      });
    });
  }
}

function moveOf({ accountId }: Caller, credits: number, request: ChargedRequest): LedgerMove<ChargeKind> {
  return { accountId, kind: 'read', credits, reference: randomUUID(), request };
}

function insufficientCredits(): ApiError {
  return new ApiError('insufficient_credits', 'The account has no credits left.');
}
