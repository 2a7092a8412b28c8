import type { Queryable } from '../../postgres/pool.ts';

/**
 * Takes or renews a lease. Returns false while another holder has it. One process at a time has a name, by the clock of
 * the database.
 */
export async function takeLease(
  db: Queryable,
  lease: { name: string; holder: string; seconds: number },
): Promise<boolean> {
  const result = await db.query(
    `INSERT INTO leases (name, holder, lease_until)
     VALUES ($1, $2, service_now() + make_interval(secs => $3))
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
       WHERE leases.holder = excluded.holder OR leases.lease_until < service_now()`,
    [lease.name, lease.holder, lease.seconds],
  );
  return result.rowCount === 1;
}

/** Releases a lease, so that another process can take it before it expires. */
export async function releaseLease(db: Queryable, lease: { name: string; holder: string }): Promise<void> {
  await db.query('DELETE FROM leases WHERE name = $1 AND holder = $2', [lease.name, lease.holder]);
}

/**
 * The number of leases whose names begin with `prefix` and that have not expired. Deletes those that expired long ago.
 */
export async function countHolders(db: Queryable, prefix: string): Promise<number> {
  await db.query(
    `DELETE FROM leases
      WHERE name IN (
        SELECT name FROM leases
         WHERE starts_with(name, $1) AND lease_until < service_now() - interval '1 minute'
         FOR UPDATE SKIP LOCKED
      )`,
    [prefix],
  );
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM leases WHERE starts_with(name, $1) AND lease_until >= service_now()',
    [prefix],
  );
  return rows[0]?.count ?? 0;
}
