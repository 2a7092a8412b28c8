import { randomUUID } from 'node:crypto';
import { lockAccount } from '../../../shared/accounts/accounts.ts';
import { chargeLocally, chargeTogether } from '../../../shared/billing/ledger.ts';
import type { ChargedRequest, ChargeKind, LedgerMove } from '../../../shared/billing/ledger.ts';
import { noteUnknownCharges } from '../../../shared/billing/unknown-charges.ts';
import { eachInTransaction, inTransaction, isOutcomeUnknown } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import { CallBatcher } from '../../../shared/runtime/call-batcher.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { ApiError } from '../http/api-error.ts';
import type { Caller } from '../admission/caller.ts';
import { retry } from '../../../shared/runtime/retry.ts';

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
 * Charges requests when their responses are ready. Concurrent charges share one statement and one commit.
 *
 * Each charge is a transaction. The client sends COMMIT only after the server answers the charge. So a server that
 * hangs until the request times out, and the request is answered as uncharged, does not commit the charge later
 * (`idleInTransactionMs`). No COMMIT waits for a standby (`chargeLocally`). A COMMIT whose connection breaks, or whose
 * server's disk hangs, can outlast the request: the response then says that the outcome is unknown, and the charge is
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

const MAX_AT_ONCE = 1_000;

/**
 * Charges whose commit got no answer. Their requests fail, so each is noted for the biller, which reverses it if it
 * took effect. Postgres is unavailable at that moment, so the charges wait here until it is back. Later charges fail
 * before their commit, so few wait. A process that ends before loses them; the log names each.
 */
export class UnknownCharges {
  private readonly pool: Pool;
  private readonly logger: Logger;
  private waiting: LedgerMove<ChargeKind>[] = [];
  private isNoting = false;

  constructor(pool: Pool, logger: Logger) {
    this.pool = pool;
    this.logger = logger;
  }

  async watch<T>(move: LedgerMove<ChargeKind>, charge: () => Promise<T>): Promise<T> {
    try {
      return await charge();
    } catch (error) {
      if (isOutcomeUnknown(error)) this.add(move);
      throw error;
    }
  }

  private add(move: LedgerMove<ChargeKind>): void {
    const { accountId, kind, reference, request } = move;
    this.logger.warn(
      { account_id: accountId, kind, reference, request_id: request?.requestId },
      'the commit of a charge was not confirmed; if it took effect, it is reversed',
    );
    this.waiting.push(move);
    if (!this.isNoting) void this.noteWaiting();
  }

  private async noteWaiting(): Promise<void> {
    const { pool, logger } = this;
    this.isNoting = true;
    try {
      while (this.waiting.length > 0) {
        const some = this.waiting.slice(0, MAX_AT_ONCE);
        const what = 'recording unconfirmed charges';
        await retry(() => noteUnknownCharges(pool, some), { what, logger, isRetryable: isPostgresUnavailable });
        this.waiting.splice(0, some.length);
      }
    } catch (error) {
      logger.error({ err: error, charges: this.waiting.length }, 'unconfirmed charges could not be recorded');
    } finally {
      this.isNoting = false;
    }
  }
}
