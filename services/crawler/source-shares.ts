import type { Queryable } from '../../shared/postgres/pool.ts';
import { isPostgresUnavailable } from '../../shared/postgres/postgres-unavailable.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { delay } from '../../shared/runtime/clock.ts';
import type { Running } from '../../shared/runtime/lifecycle.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { countHolders, releaseLease } from '../../shared/maintenance/leases.ts';
import type { WantedLease } from '../../shared/maintenance/leases.ts';

const RENEW_MS = 1_000;
/** A process that did not renew for this long has ended. */
const MEMBER_SECONDS = 5;
/** A process that has joined gets its sources after this time, so that a short overlap at a restart moves nothing. */
const RELEASE_AFTER_MS = 3_000;
/** A process that was missed only because Postgres is slow is back within this time. */
const LISTEN_ALONE_MS = 10_000;

interface HeldSource {
  /** Stops crawling the source and releases its lease, so that another process can take it. */
  release: () => void;
}

interface SourceSharesDeps {
  db: Queryable;
  holder: string;
  /** The names of the sources that this process can crawl. Only processes with the same sources share them. */
  sources: readonly string[];
  takeLease: (lease: WantedLease) => Promise<boolean>;
  logger: Logger;
  clock: Clock;
  /** Listens for what the other processes publish. Called when there are any; stopped when there are none. */
  listen: () => Running | undefined;
}

/**
 * Divides the sources evenly among the crawler processes: none keeps more than its part, rounded up. Processes know of
 * each other by a lease each, renewed every second. While Postgres is unavailable the last count applies and nothing
 * moves.
 */
export class SourceShares {
  private readonly deps: SourceSharesDeps;
  private readonly held: HeldSource[] = [];
  private processes = 1;
  private tooManyForMs = 0;
  private aloneForMs = 0;
  private listener: Running | undefined;

  constructor(deps: SourceSharesDeps) {
    this.deps = deps;
  }

  /** The number of sources that each process may hold. */
  get limit(): number {
    return Math.ceil(this.deps.sources.length / this.processes);
  }

  /** True while this process holds fewer sources than its part. A source that nobody takes may be taken anyway. */
  get mayTake(): boolean {
    return this.held.length < this.limit;
  }

  add(source: HeldSource): void {
    this.held.push(source);
  }

  remove(source: HeldSource): void {
    const index = this.held.indexOf(source);
    if (index >= 0) this.held.splice(index, 1);
  }

  /** Renews the lease of this process until the signal aborts. Throws only unexpected errors. */
  async run(signal: AbortSignal): Promise<void> {
    const { db, holder, clock } = this.deps;
    const lease = { name: `${this.prefix}${holder}`, holder };
    while (!signal.aborted) {
      const begun = clock();
      await this.renew({ ...lease, seconds: MEMBER_SECONDS });
      await delay(untilNextRenewal(RENEW_MS, begun, clock()), signal);
    }
    await this.stopListening();
    await releaseLease(db, lease).catch((error: unknown) => {
      this.deps.logger.debug({ err: error }, 'the lease of this process was not released; it expires');
    });
  }

  private async renew(lease: WantedLease): Promise<void> {
    const { db, takeLease, logger } = this.deps;
    try {
      // At the same time: with slow answers one after the other takes longer than the lease lasts.
      const [others] = await Promise.all([countHolders(db, this.prefix), takeLease(lease)]);
      const processes = Math.max(1, others);
      if (processes !== this.processes) {
        logger.info({ processes }, 'the number of crawler processes has changed');
        this.processes = processes;
      }
      this.listenToOthers();
      this.releaseSurplus();
    } catch (error) {
      if (!isPostgresUnavailable(error)) throw error;
      this.tooManyForMs = 0;
    }
  }

  private listenToOthers(): void {
    this.aloneForMs = this.processes > 1 ? 0 : this.aloneForMs + RENEW_MS;
    if (this.processes > 1) this.listener ??= this.deps.listen();
    // While the broker hangs it does not end in time, and the leases must be renewed meanwhile.
    else if (this.aloneForMs >= LISTEN_ALONE_MS) void this.stopListening();
  }

  private async stopListening(): Promise<void> {
    const { listener } = this;
    this.listener = undefined;
    try {
      await listener?.stop();
    } catch (error) {
      this.deps.logger.info({ err: error }, 'listening to other crawler processes did not end cleanly');
    }
  }

  /** One source at a time: each moves only when the one before is released. */
  private releaseSurplus(): void {
    this.tooManyForMs = this.held.length > this.limit ? this.tooManyForMs + RENEW_MS : 0;
    if (this.tooManyForMs < RELEASE_AFTER_MS) return;
    this.held.at(-1)?.release();
  }

  private get prefix(): string {
    return `crawler:${[...this.deps.sources].sort().join(',')}:`;
  }
}

/** A timer may end a little before the moment that it was set to. */
const EARLY_MS = 50;

/**
 * The milliseconds to wait after a renewal that began at `begun` and ended at `now`, so that renewals begin `everyMs`
 * apart, and all renewals of a process in the same moment: they share a statement then. A slow answer takes from the
 * wait, so that the next renewal does not come too late. Times are milliseconds since 1970; a clock that was set back
 * or forward costs one full wait at most.
 */
export function untilNextRenewal(everyMs: number, begun: number, now: number): number {
  const since = Math.min(begun, now);
  const next = (Math.floor((since + EARLY_MS) / everyMs) + 1) * everyMs;
  return Math.min(everyMs, Math.max(0, next - now));
}
