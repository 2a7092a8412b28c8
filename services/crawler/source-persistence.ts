import type { Queryable } from '../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { readCursor, saveCursor } from '../../shared/crawl/crawl-cursors.ts';
import type { CrawlGap, GapClosing } from '../../shared/crawl/crawl-gaps.ts';
import { closeGapsBefore, openGaps } from '../../shared/crawl/crawl-gaps.ts';
import { releaseLease } from '../../shared/maintenance/leases.ts';
import type { WantedLease } from '../../shared/maintenance/leases.ts';
import type { FailureLog } from './failure-log.ts';
import { untilNextRenewal } from './source-shares.ts';

/**
 * After kill -9 the source pauses for this long. It must be far shorter than the time in which a busy listing turns
 * over (1,000 items). If a slow database lets the lease expire, two crawlers run at once, which is harmless.
 */
const LEASE_SECONDS = 4;
const RENEW_MS = 1_000;
/** A crash repeats what was published since the last checkpoint. The items' keys make that harmless. */
const CHECKPOINT_MS = 2_000;
const GAPS_A_STATEMENT = 1_000;
/**
 * How long stopping waits for Postgres, at most twice. What is not written by then is found again from the saved
 * cursor.
 */
const STOP_MS = 3_000;

interface SourcePersistenceDeps {
  db: Queryable;
  source: string;
  holder: string;
  /** Takes or renews a lease; false while another holder has it. Throws while Postgres is unavailable. */
  takeLease: (lease: WantedLease) => Promise<boolean>;
  outages: Pick<FailureLog, 'failed' | 'succeeded'>;
  /** The position from which the next holder resumes, after everything acknowledged so far. */
  position: () => unknown;
  logger: Logger;
  clock: Clock;
}

/**
 * The state of a source in Postgres: its lease, its cursor and its gaps. All of it is written concurrently with the
 * calls, so that no call waits for Postgres. While Postgres is unavailable or hangs, the lease cannot be checked and
 * counts as held, and cursor and gaps wait in memory. Gaps are written before the cursor that passes them: a crash in
 * between finds them again from the old cursor.
 */
export class SourcePersistence {
  private readonly deps: SourcePersistenceDeps;
  /** Gaps that are not written yet, and when each was noticed. None is ever dropped. */
  private gaps: { gap: CrawlGap; noticedAt: number }[] = [];
  private closings: GapClosing[] = [];
  private leaseUntil = 0;
  private revision = 0;
  private savedRevision = 0;
  /** Whether the position changed since the lease was acquired. */
  private hasMoved = false;
  /** Aborting it ends the wait for the next checkpoint. */
  private checkpointNow = new AbortController();

  constructor(deps: SourcePersistenceDeps) {
    this.deps = deps;
  }

  /** Acquires or renews the lease; false while another process holds it. Throws while Postgres is unavailable. */
  async takeLease(): Promise<boolean> {
    const { takeLease, holder, clock } = this.deps;
    const now = clock();
    const isLeased = await takeLease({ name: this.leaseName, holder, seconds: LEASE_SECONDS });
    this.leaseUntil = isLeased ? now + LEASE_SECONDS * 1000 : 0;
    return isLeased;
  }

  /** Returns the position that the last holder saved. Throws while Postgres is unavailable. */
  async readCursor(): Promise<unknown> {
    const position = await readCursor(this.deps.db, this.deps.source);
    this.savedRevision = this.revision;
    this.hasMoved = false;
    return position;
  }

  /** Queues a gap; it stays in memory until it is written. */
  recordGap(gap: CrawlGap): void {
    this.gaps.push({ gap, noticedAt: this.deps.clock() });
  }

  /** Queues the end of a gap, which is written after all gaps. */
  closeGap(closing: GapClosing): void {
    this.closings.push(closing);
  }

  /**
   * Marks the position as changed, so that the next checkpoint saves it. The first position of a holder is saved at
   * once: without one, the successor of a crawler that is killed early would begin as on the first start ever.
   */
  markMoved(): void {
    this.revision += 1;
    if (!this.hasMoved) this.checkpointNow.abort();
    this.hasMoved = true;
  }

  /**
   * Renews the lease and writes cursor and gaps until the signal aborts. Calls `onLost` when another process holds the
   * lease.
   */
  async run(signal: AbortSignal, onLost: () => void): Promise<void> {
    const failed = new AbortController();
    const both = AbortSignal.any([signal, failed.signal]);
    const orFail = (error: unknown): never => {
      failed.abort();
      throw error;
    };
    await Promise.all([this.renewLease(both, onLost).catch(orFail), this.writeCheckpoints(both).catch(orFail)]);
  }

  /** Resolves once everything is written, or the signal aborts. `run` must be running. */
  async flush(signal: AbortSignal): Promise<void> {
    this.checkpointNow.abort();
    while (!signal.aborted && (this.savedRevision !== this.revision || this.gaps.length + this.closings.length > 0))
      await delay(50, signal);
  }

  /** Writes the queued gaps and their ends. Throws while Postgres is unavailable. */
  async writeGaps(): Promise<void> {
    const { db, source, clock } = this.deps;
    // Copied first: a closing that is queued during the writes may belong to a gap that is not written yet.
    const closings = [...this.closings];
    for (let left = this.gaps.length; left > 0; left -= GAPS_A_STATEMENT) {
      const gaps = this.gaps.slice(0, Math.min(left, GAPS_A_STATEMENT));
      const now = clock();
      await openGaps(
        db,
        gaps.map(({ gap, noticedAt }) => ({ ...gap, ageMs: Math.max(0, now - noticedAt) })),
      );
      this.gaps = this.gaps.slice(gaps.length);
    }
    if (closings.length === 0) return;
    await closeGapsBefore(db, source, closings);
    const written = new Set(closings);
    this.closings = this.closings.filter((closing) => !written.has(closing));
  }

  /** Writes the queued gaps, then the cursor if the lease is still valid, and releases the lease. */
  async finish(): Promise<void> {
    const { db, holder, logger } = this.deps;
    const write = async (): Promise<void> => {
      await this.write();
      await releaseLease(db, { name: this.leaseName, holder });
    };
    const reported = write().catch((error: unknown) => {
      logger.warn({ err: error }, 'the last checkpoint or the lease could not be written');
    });
    if (!(await withinStopDeadline(reported))) logger.warn('Postgres did not take the last checkpoint in time');
    this.leaseUntil = 0;
  }

  private async renewLease(signal: AbortSignal, onLost: () => void): Promise<void> {
    let waitMs = RENEW_MS;
    for (;;) {
      await delay(waitMs, signal);
      if (signal.aborted) return;
      const begun = this.deps.clock();
      // While Postgres is unavailable the lease counts as held: two crawlers at once are harmless, no crawler is not.
      const isLeased = await this.tolerateOutage(() => this.takeLease());
      if (isLeased === false) onLost();
      // Answers may take almost as long as the lease lasts.
      waitMs = untilNextRenewal(RENEW_MS, begun, this.deps.clock());
    }
  }

  private async writeCheckpoints(signal: AbortSignal): Promise<void> {
    await this.waitForCheckpoint(signal);
    while (!signal.aborted) {
      // A checkpoint that is requested during a write needs another write.
      const wasAsked = this.checkpointNow.signal.aborted;
      const isUnavailable = (await this.tolerateOutage(() => this.write())) === 'unavailable';
      if (isUnavailable) await delay(CHECKPOINT_MS, signal);
      else if (wasAsked) this.checkpointNow = new AbortController();
      await this.waitForCheckpoint(signal);
    }
  }

  private waitForCheckpoint(signal: AbortSignal): Promise<void> {
    return delay(CHECKPOINT_MS, AbortSignal.any([signal, this.checkpointNow.signal]));
  }

  /** Writes the gaps first, then the cursor that passes them. */
  private async write(): Promise<void> {
    const { db, source, holder, position, clock } = this.deps;
    const { revision } = this;
    const reached = position();
    await this.writeGaps();
    if (revision === this.savedRevision || clock() >= this.leaseUntil) return;
    const lease = { name: this.leaseName, holder };
    if (reached !== undefined && !(await saveCursor(db, { source, position: reached, lease }))) return;
    this.savedRevision = revision;
  }

  /** Returns 'unavailable' while Postgres is unavailable. */
  private async tolerateOutage<T>(work: () => Promise<T>): Promise<T | 'unavailable'> {
    const { outages, source } = this.deps;
    try {
      const result = await work();
      outages.succeeded(source);
      return result;
    } catch (error) {
      if (!isPostgresUnavailable(error)) throw error;
      outages.failed(source, error, { gaps: this.gaps.length });
      return 'unavailable';
    }
  }

  private get leaseName(): string {
    return `crawl:${this.deps.source}`;
  }
}

/** Returns false when the work takes longer than stopping may wait. Rethrows its error if it fails before that. */
export async function withinStopDeadline(work: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  const late = delay(STOP_MS, ended.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    ended.abort();
  }
}
