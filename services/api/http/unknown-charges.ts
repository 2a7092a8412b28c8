import { isOutcomeUnknown } from '../../../shared/postgres/pool.ts';
import type { Pool } from '../../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../../shared/postgres/postgres-unavailable.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { retry } from '../../../shared/runtime/retry.ts';
import type { ChargeKind, LedgerMove } from '../../../shared/billing/ledger.ts';
import { noteUnknownCharges } from '../../../shared/billing/unknown-charges.ts';

const MOST_AT_ONCE = 1_000;

/**
 * Charges for answers that were not given, because the commit got no answer: each is noted for the biller, which
 * reverses it where it took effect. Postgres is unavailable at that moment, so the notes wait here until it is back.
 * They are only as many as the charges under way when it went: later ones fail before their commit. A process that ends
 * before loses them; the log names each.
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

  /** Runs a charge. @throws what it throws */
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
      'the commit of a charge got no answer; it is reversed if it took effect',
    );
    this.waiting.push(move);
    if (!this.isNoting) void this.noteWaiting();
  }

  private async noteWaiting(): Promise<void> {
    const { pool, logger } = this;
    this.isNoting = true;
    try {
      while (this.waiting.length > 0) {
        const some = this.waiting.slice(0, MOST_AT_ONCE);
        const what = 'noting charges without an answer';
        await retry(() => noteUnknownCharges(pool, some), { what, logger, isRetryable: isPostgresUnavailable });
        this.waiting.splice(0, some.length);
      }
    } catch (error) {
      logger.error({ err: error, charges: this.waiting.length }, 'charges without an answer could not be noted');
    } finally {
      this.isNoting = false;
    }
  }
}
