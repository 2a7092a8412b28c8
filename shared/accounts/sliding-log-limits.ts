import type { Queryable, Pool } from '../postgres/pool.ts';
import { execute, isChanged, readRow } from '../postgres/sql.ts';
import { inTransaction } from '../postgres/pool.ts';

/** At most `maxUses` uses of a name in any period of `seconds`. */
export interface SlidingLogLimit {
  /** What is limited, with its kind, for example `network:192.0.2.0/24`. */
  name: string;
  maxUses: number;
  seconds: number;
}

/**
 * Takes one use of a limit (sliding log: the row has the times of the last uses). The limit is exact: concurrent
 * callers of a name wait for each other's transaction. A transaction that takes several names must take them in the
 * order of the names. A use more than `seconds` in the future, left by a clock that was set back, does not count.
 *
 * @returns 0 when the use was taken; otherwise the seconds until one is available, rounded up
 */
export async function takeUse(db: Queryable, limit: SlidingLogLimit): Promise<number> {
  const isTaken = await isChanged(db)`
    INSERT INTO recent_uses AS log (name, times, kept_until)
    VALUES (${limit.name}, ARRAY[service_now()], service_now() + make_interval(secs => ${limit.seconds}))
    ON CONFLICT (name) DO UPDATE
      SET times = (log.times || service_now())[greatest(1, cardinality(log.times) + 2 - ${limit.maxUses}):],
          kept_until = service_now() + make_interval(secs => ${limit.seconds})
      WHERE cardinality(log.times) < ${limit.maxUses}
        OR log.times[cardinality(log.times) + 1 - ${limit.maxUses}] <= service_now() - make_interval(secs =>
          ${limit.seconds})
        OR log.times[cardinality(log.times) + 1 - ${limit.maxUses}] > service_now() + make_interval(secs =>
          ${limit.seconds})`;
  return isTaken ? 0 : Math.max(1, await secondsUntilUse(db, limit));
}

/** Seconds until a use of a name is available, rounded up; 0: now. Takes none. */
export async function secondsUntilUse(db: Queryable, { name, maxUses, seconds }: SlidingLogLimit): Promise<number> {
  const row = await readRow<{ seconds: number | null }>(db)`
    SELECT ceil(extract(epoch FROM times[cardinality(times) + 1 - ${maxUses}] - service_now()) + ${seconds})::integer
      AS seconds
    FROM recent_uses
    WHERE name = ${name}
      AND times[cardinality(times) + 1 - ${maxUses}] <= service_now() + make_interval(secs => ${seconds})`;
  return Math.max(0, row?.seconds ?? 0);
}

/** Returns the last use of a name. Only the transaction that took it may call this, since it holds the row lock. */
export async function returnUse(db: Queryable, name: string): Promise<void> {
  await execute(db)`UPDATE recent_uses SET times = trim_array(times, 1) WHERE name = ${name}`;
}

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
