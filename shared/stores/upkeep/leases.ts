import type { Queryable } from '../../postgres/pool.ts';

/** A lease that a process wants to take or to renew. */
export interface WantedLease {
  name: string;
  holder: string;
  seconds: number;
}

/**
 * Takes or renews a lease. Returns false while another holder has it. One process at a time has a name, by the clock of
 * the database.
 */
export async function takeLease(db: Queryable, lease: WantedLease): Promise<boolean> {
  const [isTaken = false] = await takeLeases(db, [lease]);
  return isTaken;
}

/** The same for several leases in one statement; the answers are in their order. A name has one holder in a call. */
export async function takeLeases(db: Queryable, leases: readonly WantedLease[]): Promise<boolean[]> {
  // A statement may change each row once. Sorted, so that processes lock the rows in one order.
  const wanted = [...new Map(leases.map((lease) => [lease.name, lease])).values()];
  const { rows } = await db.query<{ name: string }>(
    `INSERT INTO leases (name, holder, lease_until)
     SELECT name, holder, service_now() + make_interval(secs => seconds)
       FROM unnest($1::text[], $2::text[], $3::float8[]) AS wanted (name, holder, seconds)
      ORDER BY name COLLATE "C"
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
       WHERE leases.holder = excluded.holder OR leases.lease_until < service_now()
     RETURNING name`,
    [wanted.map(({ name }) => name), wanted.map(({ holder }) => holder), wanted.map(({ seconds }) => seconds)],
  );
  const taken = new Set(rows.map(({ name }) => name));
  return leases.map(({ name }) => taken.has(name));
}

/** Releases a lease, so that another process can take it before it expires. */
export async function releaseLease(db: Queryable, lease: { name: string; holder: string }): Promise<void> {
  await db.query('DELETE FROM leases WHERE name = $1 AND holder = $2', [lease.name, lease.holder]);
}

/**
 * The number of leases whose names begin with `prefix` and that have not expired. Deletes those that expired long ago.
 */
export async function countHolders(db: Queryable, prefix: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `WITH old AS (
       DELETE FROM leases
        WHERE name IN (
          SELECT name FROM leases
           WHERE starts_with(name, $1) AND lease_until < service_now() - interval '1 minute'
           FOR UPDATE SKIP LOCKED
        )
     )
     SELECT count(*)::int AS count FROM leases WHERE starts_with(name, $1) AND lease_until >= service_now()`,
    [prefix],
  );
  return rows[0]?.count ?? 0;
}
