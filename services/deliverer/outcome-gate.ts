import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import { toError } from '../../shared/runtime/errors.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { RetryDeps } from '../../shared/runtime/retry.ts';

export type OutcomeGateDeps = Pick<RetryDeps, 'what' | 'logger' | 'outage' | 'minMs'>;

/** Failures of one outcome after which nothing more is claimed: a deadlock or a lost connection ends before. */
const FAILURES_UNTIL_CLOSED = 3;
const MOST_WAIT_MS = 1_000;

/**
 * Stores outcomes of attempts, and says whether more may be claimed. Postgres may take claims but no outcomes: with a
 * full disk a lease fits into its page, the row of an attempt does not. What is sent then is sent again when its lease
 * ends, so nothing more is claimed while an outcome waits that failed three times. The outcomes that wait are kept and
 * tried again. Their leases may have ended: they count unless another process has claimed the match since.
 */
export class OutcomeGate {
  private readonly options: OutcomeGateDeps;
  private readonly givingUp = new AbortController();
  private stuck = 0;

  constructor(options: OutcomeGateDeps) {
    this.options = options;
  }

  get isOpen(): boolean {
    return this.stuck === 0;
  }

  /**
   * Stores an outcome, however long Postgres is unavailable.
   *
   * @throws an error that is no outage, and after `giveUp` the last one
   */
  async store<T>(write: () => Promise<T>): Promise<T> {
    const { signal } = this.givingUp;
    if (signal.aborted) return write();
    let failures = 0;
    let last: unknown;
    const attempt = async () => {
      try {
        return await write();
      } catch (error) {
        last = error;
        if (++failures === FAILURES_UNTIL_CLOSED) this.stuck++;
        throw error;
      }
    };
    try {
      return await retry(attempt, { ...this.options, maxMs: MOST_WAIT_MS, isRetryable: isPostgresUnavailable, signal });
    } catch (error) {
      throw toError(this.givingUp.signal.aborted && last !== undefined ? last : error);
    } finally {
      if (failures >= FAILURES_UNTIL_CLOSED) this.stuck--;
    }
  }

  /** For a stop: ends the waiting of outcomes that cannot be stored. */
  giveUp(): void {
    this.givingUp.abort();
  }
}
