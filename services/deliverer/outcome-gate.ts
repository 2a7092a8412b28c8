import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import { toError } from '../../shared/runtime/errors.ts';
import { retry } from '../../shared/runtime/retry.ts';
import type { RetryDeps } from '../../shared/runtime/retry.ts';

export type OutcomeGateDeps = Pick<RetryDeps, 'what' | 'logger' | 'outage'> & {
  /** Monotonic clock, milliseconds. */
  monotonic: () => number;
  /** Default 100 ms. */
  minMs?: number;
};

/** Failures of one outcome after which nothing more is claimed: a deadlock or a lost connection ends before. */
const FAILURES_UNTIL_CLOSED = 3;
const MOST_WAIT_MS = 1_000;
/** Two waits: what waits is stored before it could be claimed again; one that never is stops nothing for long. */
const OPENS_AFTER_MS = 2 * MOST_WAIT_MS;
const PROBE_EVERY_MS = 30_000;

/**
 * Stores outcomes of attempts, and says whether more may be claimed. Postgres may take claims but no outcomes: with a
 * full disk a lease fits into its page, the row of an attempt does not. What is sent then is sent again when its lease
 * ends, so nothing more is sent until an outcome was stored. The outcomes that wait are kept and tried again, and are
 * the probe. Their leases may have ended: they count unless another process has claimed the match since.
 *
 * open ── an outcome fails three times ──▶ closed ── an outcome is stored, and the others had time for that ──▶ open
 *
 * When no outcome waits, because other processes took over all matches, a single match is claimed now and then.
 */
export class OutcomeGate {
  private readonly options: OutcomeGateDeps;
  private readonly givingUp = new AbortController();
  private isClosed = false;
  private opensAt = Number.POSITIVE_INFINITY;
  private waiting = 0;
  private nextProbeAt = 0;

  constructor(options: OutcomeGateDeps) {
    this.options = options;
  }

  /** Whether matches may be claimed: any number, a single one, or none. */
  admits(): 'yes' | 'probe' | 'no' {
    const now = this.options.monotonic();
    const isStoring = this.opensAt < Number.POSITIVE_INFINITY;
    if (isStoring && (this.waiting === 0 || now >= this.opensAt)) this.isClosed = false;
    if (!this.isClosed) return 'yes';
    if (this.waiting > 0 || now < this.nextProbeAt) return 'no';
    this.nextProbeAt = now + PROBE_EVERY_MS;
    return 'probe';
  }

  /**
   * Stores an outcome, however long Postgres is away.
   *
   * @param write undefined when the lease was lost, which says nothing about whether outcomes can be stored
   * @throws an error that is no outage, and after `giveUp` the last one
   */
  async store<T>(write: () => Promise<T | undefined>): Promise<T | undefined> {
    const { monotonic, ...options } = this.options;
    const { signal } = this.givingUp;
    if (this.givingUp.signal.aborted) return write();
    let failures = 0;
    let last: unknown;
    const attempt = async () => {
      try {
        const stored = await write();
        if (stored !== undefined) this.opensAt = Math.min(this.opensAt, monotonic() + OPENS_AFTER_MS);
        return stored;
      } catch (error) {
        last = error;
        if (++failures === 1) this.waiting++;
        if (failures >= FAILURES_UNTIL_CLOSED) this.close();
        throw error;
      }
    };
    try {
      return await retry(attempt, { ...options, maxMs: MOST_WAIT_MS, isRetryable: isPostgresAway, signal });
    } catch (error) {
      throw toError(signal.aborted && last !== undefined ? last : error);
    } finally {
      if (failures > 0) this.waiting--;
    }
  }

  private close(): void {
    const now = this.options.monotonic();
    this.nextProbeAt = now + PROBE_EVERY_MS;
    if (this.isClosed && now < this.opensAt) return;
    this.isClosed = true;
    this.opensAt = Number.POSITIVE_INFINITY;
  }

  /** For a stop: ends the waiting of outcomes that cannot be stored. */
  giveUp(): void {
    this.givingUp.abort();
  }
}
