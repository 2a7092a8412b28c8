import { inTransaction } from '../../postgres/pool.ts';
import type { Pool } from '../../postgres/pool.ts';
import { takeUse } from './sliding-log-limits.ts';
import type { SlidingLogLimit } from './sliding-log-limits.ts';

/** A limit that has no use left, and the seconds until it has one, rounded up. */
export interface RefusedUse<L extends SlidingLogLimit> {
  limit: L;
  retryAfter: number;
}

/**
 * Takes one use of every limit, or of none, in one transaction and in the order of their names, so that callers cannot
 * deadlock.
 *
 * @returns undefined when all were taken; otherwise the first limit that has no use left
 */
export async function takeUses<L extends SlidingLogLimit>(
  pool: Pool,
  limits: readonly L[],
): Promise<RefusedUse<L> | undefined> {
  const inOrder = limits.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  try {
    await inTransaction(pool, async (client) => {
      for (const limit of inOrder) {
        const retryAfter = await takeUse(client, limit);
        if (retryAfter > 0) throw new Refusal({ limit, retryAfter });
      }
    });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.refused as RefusedUse<L>;
    throw error;
  }
}

/** Rolls the transaction back. */
class Refusal extends Error {
  readonly refused: RefusedUse<SlidingLogLimit>;

  constructor(refused: RefusedUse<SlidingLogLimit>) {
    super('a limit has no use left');
    this.refused = refused;
  }
}
