import { randomUUID } from 'node:crypto';
import type { Pool } from '../../shared/postgres/pool.ts';
import { releaseLease, takeLease } from '../../shared/stores/upkeep/leases.ts';

const LEASE_SECONDS = 60;
/** Renewed this often, at least 45 s of the lease remain; a statement takes at most 30 s. */
const RENEW_AFTER_MS = 15_000;

/** A lease in Postgres that lets one process at a time do a job. It ends by itself 60 s after the last renewal. */
export class Lease {
  private readonly pool: Pool;
  private readonly name: string;
  private readonly longestSeconds: number;
  private holder = randomUUID();
  private takenAt = Number.NEGATIVE_INFINITY;

  /** @param longestSeconds the longest that it is kept taken, by `holdFor` */
  constructor(pool: Pool, name: string, longestSeconds = LEASE_SECONDS) {
    this.pool = pool;
    this.name = name;
    this.longestSeconds = longestSeconds;
  }

  /**
   * Takes or renews the lease; returns whether this process holds it. Call it before each statement that changes many
   * rows.
   */
  async mayContinue(): Promise<boolean> {
    const now = performance.now();
    if (now - this.takenAt < RENEW_AFTER_MS) return true;
    if (!(await takeLease(this.pool, this.lease(LEASE_SECONDS)))) return false;
    this.takenAt = now;
    return true;
  }

  /** Keeps the lease taken for the given seconds: no process gets it before, not even this one. */
  async holdFor(seconds: number): Promise<void> {
    if (seconds > this.longestSeconds) throw new RangeError(`${this.name}: kept taken for longer than declared`);
    await takeLease(this.pool, this.lease(seconds));
    this.holder = randomUUID();
    this.takenAt = Number.NEGATIVE_INFINITY;
  }

  /** Releases the lease if this process holds it. */
  release(): Promise<void> {
    return releaseLease(this.pool, { name: this.name, holder: this.holder });
  }

  private lease(seconds: number): Parameters<typeof takeLease>[1] {
    return { name: this.name, holder: this.holder, seconds, longestSeconds: this.longestSeconds };
  }
}
