import type { Queryable } from '../postgres/pool.ts';
import { execute, readRows, sql } from '../postgres/sql.ts';

export interface WantedLease {
  name: string;
  holder: string;
  seconds: number;
  /** The longest that anybody takes it for; default: `seconds`. */
  longestSeconds?: number;
}

/**
 * A lease that ends this much later than the longest possible one was taken while the clock was ahead. It is shortened
 * to a whole lease from now: its holder may still be at work, and nobody should wait until the clock shows that time
 * again. Leases of matches, events, backfills and members are shorter than this.
 */
export const BEYOND_LEASES = sql`interval '1 minute'`;

/** Takes or renews a lease. Returns false while another holder has it, by the clock of the database. */
export async function takeLease(db: Queryable, lease: WantedLease): Promise<boolean> {
  const [isTaken = false] = await takeLeases(db, [lease]);
  return isTaken;
}

/** The same for several leases in one statement; the answers are in their order. A name has one holder in a call. */
export async function takeLeases(db: Queryable, leases: readonly WantedLease[]): Promise<boolean[]> {
  // A statement may change each row once. Sorted, so that processes lock the rows in one order.
  const byName = new Map(leases.map((lease) => [lease.name, lease]));
  const wanted = [...byName.values()];
  const rows = await readRows<Pick<WantedLease, 'name' | 'holder'>>(db)`
    INSERT INTO leases (name, holder, lease_until)
    SELECT name, holder, service_now() + make_interval(secs => seconds)
      FROM unnest(${wanted.map(({ name }) => name)}::text[], ${wanted.map(({ holder }) => holder)}::text[],
        ${wanted.map(({ seconds }) => seconds)}::float8[]) AS wanted (name, holder, seconds)
     ORDER BY name COLLATE "C"
    ON CONFLICT (name) DO UPDATE SET lease_until = excluded.lease_until,
        holder = CASE WHEN leases.lease_until < service_now() THEN excluded.holder ELSE leases.holder END
      WHERE leases.holder = excluded.holder OR leases.lease_until < service_now()
        OR leases.lease_until
          > greatest(excluded.lease_until, service_now() + make_interval(secs =>
            ${Math.max(0, ...wanted.map(({ longestSeconds = 0 }) => longestSeconds))}::float8)) + ${BEYOND_LEASES}
    RETURNING name, holder`;
  const taken = new Set(rows.flatMap(({ name, holder }) => (byName.get(name)?.holder === holder ? [name] : [])));
  return leases.map(({ name }) => taken.has(name));
}

export async function releaseLease(db: Queryable, lease: { name: string; holder: string }): Promise<void> {
  await execute(db)`DELETE FROM leases WHERE name = ${lease.name} AND holder = ${lease.holder}`;
}

/**
 * The number of leases whose names begin with `prefix` and that have not expired. Deletes those that expired long ago,
 * or were taken while the clock was ahead: a holder that runs renews its own at once.
 */
export async function countHolders(db: Queryable, prefix: string): Promise<number> {
  const rows = await readRows<{ count: number }>(db)`
    WITH old AS (
      DELETE FROM leases
       WHERE name IN (
         SELECT name FROM leases
          WHERE starts_with(name, ${prefix})
            AND (lease_until < service_now() - interval '1 minute' OR lease_until > service_now() + ${BEYOND_LEASES})
          FOR UPDATE SKIP LOCKED
       )
    )
    SELECT count(*)::int AS count FROM leases
     WHERE starts_with(name, ${prefix}) AND lease_until BETWEEN service_now() AND service_now() + ${BEYOND_LEASES}`;
  return rows[0]?.count ?? 0;
}
