import type { Queryable } from '../../shared/postgres/pool.ts';
import { isPostgresAway } from '../../shared/postgres/postgres-away.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { readCursor, saveCursor } from '../../shared/stores/crawl/crawl-cursors.ts';
import type { CrawlGap } from '../../shared/stores/crawl/crawl-gaps.ts';
import { openGaps } from '../../shared/stores/crawl/crawl-gaps.ts';
import { releaseLease, takeLease } from '../../shared/stores/upkeep/leases.ts';
import { PendingGaps } from './pending-gaps.ts';

/**
 * After kill -9 nobody crawls for so long. It must stay far below the time in which a busy listing turns over (1,000
 * items); two crawlers at once, where a database was slow for longer, are harmless.
 */
const LEASE_SECONDS = 4;
const RENEW_MS = 1_000;
/** A crash repeats what was published since the last checkpoint; the items' keys make that harmless. */
const CHECKPOINT_MS = 2_000;
/**
 * Stopping waits so long for Postgres, twice at most. What is not written then is found again from the saved cursor.
 */
const STOP_MS = 3_000;

export interface SourcePersistenceDeps {
  /** Its statements must end by a deadline of a few seconds. */
  db: Queryable;
  /** Names the source in leases, cursors and gaps. */
  source: string;
  /** Names this process in leases. */
  holder: string;
  /** What the next holder needs to go on after everything acknowledged so far. */
  position: () => unknown;
  logger: Logger;
  clock: Clock;
}

/**
 * What a source keeps in Postgres: its lease, its cursor and its gaps. All of it is written beside the rounds, so that
 * no round waits for Postgres. While Postgres is away or hangs the lease cannot be checked and counts as held; cursor
 * and gaps wait in memory. The cursor is written after all gaps behind it: a crash in between finds them again from the
 * old cursor.
 */
export class SourcePersistence {
  private readonly deps: SourcePersistenceDeps;
  private readonly gaps = new PendingGaps();
  private leaseUntil = 0;
  private revision = 0;
  private savedRevision = 0;
  private awaySince: number | undefined;
  /** Ends the wait for the next checkpoint. */
  private hurry = new AbortController();

  constructor(deps: SourcePersistenceDeps) {
    this.deps = deps;
  }

  /** Takes the lease, or renews it; false while another process holds it. Throws while Postgres is away. */
  async takeLease(): Promise<boolean> {
    const { db, holder, clock } = this.deps;
    const now = clock();
    const held = await takeLease(db, { name: this.leaseName, holder, seconds: LEASE_SECONDS });
    this.leaseUntil = held ? now + LEASE_SECONDS * 1000 : 0;
    return held;
  }

  /** The position that the last holder saved, to go on from. Throws while Postgres is away. */
  async readCursor(): Promise<unknown> {
    const position = await readCursor(this.deps.db, this.deps.source);
    this.savedRevision = this.revision;
    return position;
  }

  /** Notes a gap; it is written soon, and never forgotten. */
  missed(gap: CrawlGap): void {
    this.gaps.add(gap, this.deps.clock());
  }

  /** The position changed. */
  moved(): void {
    this.revision += 1;
  }

  /**
   * Renews the lease and writes cursor and gaps until the signal aborts. `onLost`: another process holds the lease now.
   */
  async keep(signal: AbortSignal, onLost: () => void): Promise<void> {
    const failed = new AbortController();
    const both = AbortSignal.any([signal, failed.signal]);
    const orFail = (error: unknown): never => {
      failed.abort();
      throw error;
    };
    await Promise.all([this.renewals(both, onLost).catch(orFail), this.checkpoints(both).catch(orFail)]);
  }

  /** Resolves once everything is written, or the signal aborts. `keep` must be running. */
  async written(signal: AbortSignal): Promise<void> {
    this.hurry.abort();
    while (!signal.aborted && (this.savedRevision !== this.revision || this.gaps.size > 0)) await delay(50, signal);
  }

  /** Writes the gaps that wait. Throws while Postgres is away. */
  async writeGaps(): Promise<void> {
    const gaps = this.gaps.list(this.deps.clock());
    if (gaps.length === 0) return;
    await openGaps(this.deps.db, gaps);
    this.gaps.written(gaps);
  }

  /** Writes what waits, the cursor only while the lease keeps others from writing it, and gives the lease back. */
  async settle(): Promise<void> {
    const { db, holder, logger } = this.deps;
    const write = async (): Promise<void> => {
      await this.write();
      await releaseLease(db, { name: this.leaseName, holder });
    };
    const reported = write().catch((error: unknown) => {
      logger.warn({ err: error }, 'the last checkpoint or the lease could not be written');
    });
    if (!(await withinStop(reported))) logger.warn('Postgres did not take the last checkpoint in time');
    this.leaseUntil = 0;
  }

  private async renewals(signal: AbortSignal, onLost: () => void): Promise<void> {
    await delay(RENEW_MS, signal);
    while (!signal.aborted) {
      // While Postgres cannot be asked the lease counts as held: two crawlers at once are harmless, none is not.
      const held = await this.whileAway(() => this.takeLease());
      if (held === false) onLost();
      await delay(RENEW_MS, signal);
    }
  }

  private async checkpoints(signal: AbortSignal): Promise<void> {
    await this.untilCheckpoint(signal);
    while (!signal.aborted) {
      const isAway = (await this.whileAway(() => this.write())) === 'away';
      if (isAway) await delay(CHECKPOINT_MS, signal);
      else if (this.hurry.signal.aborted) this.hurry = new AbortController();
      await this.untilCheckpoint(signal);
    }
  }

  private untilCheckpoint(signal: AbortSignal): Promise<void> {
    return delay(CHECKPOINT_MS, AbortSignal.any([signal, this.hurry.signal]));
  }

  /** First the gaps, then the cursor that lies behind them. */
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

  /** Says once when Postgres goes and once when it is back. */
  private async whileAway<T>(work: () => Promise<T>): Promise<T | 'away'> {
    const { logger, clock } = this.deps;
    try {
      const result = await work();
      if (this.awaySince !== undefined) {
        const seconds = Math.round((clock() - this.awaySince) / 1000);
        this.awaySince = undefined;
        logger.info({ seconds, gaps: this.gaps.size }, 'Postgres answers again: cursor and gaps are written');
      }
      return result;
    } catch (error) {
      if (!isPostgresAway(error)) throw error;
      if (this.awaySince === undefined) {
        this.awaySince = clock();
        logger.warn({ err: error }, 'Postgres does not answer: the crawl goes on, cursor and gaps wait in memory');
      }
      return 'away';
    }
  }

  private get leaseName(): string {
    return `crawl:${this.deps.source}`;
  }
}

/** False when the work takes longer than stopping may. Throws what it throws by then. */
export async function withinStop(work: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  const late = delay(STOP_MS, ended.signal).then(() => false);
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    ended.abort();
  }
}
