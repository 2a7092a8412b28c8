import { randomUUID } from 'node:crypto';
import type { Pool } from '../../shared/postgres/pool.ts';
import { releaseLease, takeLease } from '../../shared/stores/upkeep/leases.ts';

const LEASE_SECONDS = 60;
/** A statement may take 30 s: the lease outlasts it. */
const RENEW_AFTER_MS = 15_000;

/** Lets one process at a time do a piece of work. */
export class Lease {
  private readonly pool: Pool;
  private readonly name: string;
  private holder = randomUUID();
  private takenAt = Number.NEGATIVE_INFINITY;

  constructor(pool: Pool, name: string) {
    this.pool = pool;
    this.name = name;
  }

  /** Whether this process may do the work, or go on with it. To be asked before each statement that changes much. */
  async mayContinue(): Promise<boolean> {
    const now = performance.now();
    if (now - this.takenAt < RENEW_AFTER_MS) return true;
    if (!(await takeLease(this.pool, this.lease(LEASE_SECONDS)))) return false;
    this.takenAt = now;
    return true;
  }

  /** Leaves the lease behind for so long: nobody gets it until then, not even this process. */
  async holdFor(seconds: number): Promise<void> {
    await takeLease(this.pool, this.lease(seconds));
    this.holder = randomUUID();
    this.takenAt = Number.NEGATIVE_INFINITY;
  }

  /** Gives the lease back, if it is held. */
  release(): Promise<void> {
    return releaseLease(this.pool, { name: this.name, holder: this.holder });
  }

  private lease(seconds: number): Parameters<typeof takeLease>[1] {
    return { name: this.name, holder: this.holder, seconds };
  }
}
